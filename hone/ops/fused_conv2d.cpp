#include "hone/ops/convolution_rules.h"
#include "hone/ops/following_activation.h"
#include "hone/ops/reference.h"
#include "hone/ops/rules.h"

// y = activation(conv2d(x, weight) + bias[o] + residual): a convolution fused with the operations that follow it in
// residual networks (He, Zhang, Ren and Sun, "Deep residual learning for image recognition", 2016). Inference only.
namespace hone::ops {
namespace {

std::vector<Type> infer(const TypeContext& context) {
  activation_of(context.attributes);
  const Type y = convolution_result(context.inputs[0], context.inputs[1], context.attributes);
  const Type& bias = context.inputs[2];
  expect_dtype(bias, y.dtype, "bias");
  expect_rank(bias, 1, "bias");
  expect_equal(bias.dim(0), y.dim(1), "length of the bias");
  if (context.inputs.size() == 4)
    user_check(context.inputs[3] == y, "the residual must be {}, as the result, got {}",
               to_string(y), to_string(context.inputs[3]));
  return {y};
}

void forward(Call& call) {
  const Tensor x = reference::dense(call.input(0)), weight = reference::dense(call.input(1)),
               bias = reference::dense(call.input(2)),
               residual = call.has_input(3) ? reference::dense(call.input(3)) : Tensor();
  const auto activation = activation_of(call.attributes).function;
  const kernels::ConvolutionShape shape =
      convolution_shape(x.sizes(), weight.sizes(), call.attributes);
  Tensor& y = call.output();
  std::vector<double> sums(static_cast<std::size_t>(y.count()));
  for_each_product(shape, [&](std::int64_t at_x, std::int64_t at_weight, std::int64_t at_y) {
    sums[static_cast<std::size_t>(at_y)] += static_cast<double>(x.data<float>()[at_x]) *
                                            static_cast<double>(weight.data<float>()[at_weight]);
  });
  const std::int64_t pixels = shape.result_height() * shape.result_width();
  for (std::int64_t i = 0; i < y.count(); ++i) {
    double& sum = sums[static_cast<std::size_t>(i)];
    sum += static_cast<double>(bias.data<float>()[i / pixels % shape.outputs]);
    if (residual.defined()) sum += static_cast<double>(residual.data<float>()[i]);
    sum = activation(sum);
  }
  reference::store(sums, y);
}

Attributes attributes() {
  Attributes all = convolution_attributes();
  all.set("activation", std::string("none"));
  return all;
}

// The cost of convolution, addition and activation as separate operations.
double flops(const TypeContext& context, const Bindings& bindings) {
  const Shape& weight = context.inputs[1].shape;
  double steps = activation_of(context.attributes).name == "none" ? 0 : 1;
  if (context.inputs.size() == 4) ++steps;
  double products = 2;
  for (const Dim& dim : {weight[1], weight[2], weight[3]})
    products *= static_cast<double>(resolve(dim, bindings));
  return (products + steps) * elements(infer(context)[0], bindings);
}

}  // namespace

std::vector<OpDef> fused_conv2d() {
  return {
      {.name = "fused_conv2d",
       .summary = "y = activation(conv2d(x, weight) + bias (O) + residual (B, O, OH, OW))",
       .inputs = {"x", {"weight", OperandRole::weight}, {"bias", OperandRole::bias}, "residual?"},
       .attributes = attributes(),
       .trait = Trait::contraction,
       .infer = infer,
       .reference = forward,
       .flops = flops}};
}

}  // namespace hone::ops
