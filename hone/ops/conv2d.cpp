#include "hone/ops/convolution_rules.h"
#include "hone/ops/reference.h"
#include "hone/ops/rules.h"

// y[b, o, i, j] = sum over c, u, v of x[b, c, i stride - padding + u dilation, j stride - padding + v dilation]
//                 weight[o, c, u, v] + bias[o];
// x (B, C, H, W), zero outside, weight (O, C / groups, KH, KW), bias (O).
// With groups, channels and outputs are split into as many groups, and an output reads the channels of its group only.
namespace hone::ops {
namespace {

std::vector<Type> infer(const TypeContext& context) {
  const Type y = convolution_result(context.inputs[0], context.inputs[1], context.attributes);
  if (context.inputs.size() == 3) {
    expect_dtype(context.inputs[2], y.dtype, "bias");
    expect_rank(context.inputs[2], 1, "bias");
    expect_equal(context.inputs[2].dim(0), y.dim(1), "length of the bias");
  }
  return {y};
}

void forward(Call& call) {
  const Tensor x = reference::dense(call.input(0)), weight = reference::dense(call.input(1));
  const kernels::ConvolutionShape shape =
      convolution_shape(x.sizes(), weight.sizes(), call.attributes);
  Tensor& y = call.output();
  std::vector<double> sums(static_cast<std::size_t>(y.count()));
  if (call.has_input(2)) {
    const Tensor bias = reference::dense(call.input(2));
    const std::size_t pixels =
        static_cast<std::size_t>(shape.result_height() * shape.result_width());
    for (std::size_t i = 0; i < sums.size(); ++i)
      sums[i] = static_cast<double>(
          bias.values<float>()[i / pixels % static_cast<std::size_t>(shape.outputs)]);
  }
  for_each_product(shape, [&](std::int64_t at_x, std::int64_t at_weight, std::int64_t at_y) {
    sums[static_cast<std::size_t>(at_y)] += static_cast<double>(x.data<float>()[at_x]) *
                                            static_cast<double>(weight.data<float>()[at_weight]);
  });
  reference::store(sums, y);
}

std::vector<Value> gradient(GradientContext& c) {
  const Value dy = c.output_gradient(), x = c.input(0), weight = c.input(1);
  Attributes of_x = c.node.attributes(), of_weight = c.node.attributes();
  of_x.set("shape", x.type().shape);
  of_weight.set("shape", weight.type().shape);
  std::vector<Value> gradients = {c.add("conv2d_input_gradient", {weight, dy}, of_x),
                                  c.add("conv2d_weight_gradient", {x, dy}, of_weight)};
  if (c.has_input(2)) {
    const Dim outputs = c.input(2).type().dim(0);
    const Value sums = c.add("sum_to", {dy}, {{"shape", Shape{outputs, 1, 1}}});
    gradients.push_back(c.add("reshape", {sums}, {{"shape", Shape{outputs}}}));
  }
  return gradients;
}

double flops_of(const Type& y, const Shape& weight, const Bindings& bindings) {
  double products = 2;
  for (const Dim& dim : {weight[1], weight[2], weight[3]})
    products *= static_cast<double>(resolve(dim, bindings));
  return products * elements(y, bindings);
}

double flops(const TypeContext& context, const Bindings& bindings) {
  return flops_of(convolution_result(context.inputs[0], context.inputs[1], context.attributes),
                  context.inputs[1].shape, bindings);
}

// Returns the type of the differentiated operand: its shape is the attribute `shape`, its element type that of the
// others.
Type type_of_shape(const TypeContext& context) {
  const Attributes& attributes = context.attributes;
  user_check(std::holds_alternative<Shape>(*attributes.find("shape")),
             "shape must be a list such as [B, 3, 224, 224]");
  return {context.inputs[0].dtype, attributes.get<Shape>("shape")};
}

Attributes gradient_attributes() {
  Attributes attributes = convolution_attributes();
  attributes.set("shape", {});
  return attributes;
}

void expect_result(const Type& dy, const Type& y) {
  user_check(dy == y, "dy must be {}, got {}", to_string(y), to_string(dy));
}

std::vector<Type> infer_input_gradient(const TypeContext& context) {
  const Type x = type_of_shape(context);
  expect_result(context.inputs[1], convolution_result(x, context.inputs[0], context.attributes));
  return {x};
}

void input_gradient(Call& call) {
  const Tensor weight = reference::dense(call.input(0)), dy = reference::dense(call.input(1));
  const Sizes sizes = call.output_sizes();
  std::vector<double> sums(static_cast<std::size_t>(element_count(sizes)));
  for_each_product(convolution_shape(sizes, weight.sizes(), call.attributes),
                   [&](std::int64_t at_x, std::int64_t at_weight, std::int64_t at_y) {
                     sums[static_cast<std::size_t>(at_x)] +=
                         static_cast<double>(weight.data<float>()[at_weight]) *
                         static_cast<double>(dy.data<float>()[at_y]);
                   });
  reference::store(sums, call.output());
}

double input_gradient_flops(const TypeContext& context, const Bindings& bindings) {
  return flops_of(context.inputs[1], context.inputs[0].shape, bindings);
}

std::vector<Type> infer_weight_gradient(const TypeContext& context) {
  const Type weight = type_of_shape(context);
  expect_result(context.inputs[1],
                convolution_result(context.inputs[0], weight, context.attributes));
  return {weight};
}

void weight_gradient(Call& call) {
  const Tensor x = reference::dense(call.input(0)), dy = reference::dense(call.input(1));
  const Sizes sizes = call.output_sizes();
  std::vector<double> sums(static_cast<std::size_t>(element_count(sizes)));
  for_each_product(convolution_shape(x.sizes(), sizes, call.attributes),
                   [&](std::int64_t at_x, std::int64_t at_weight, std::int64_t at_y) {
                     sums[static_cast<std::size_t>(at_weight)] +=
                         static_cast<double>(x.data<float>()[at_x]) *
                         static_cast<double>(dy.data<float>()[at_y]);
                   });
  reference::store(sums, call.output());
}

double weight_gradient_flops(const TypeContext& context, const Bindings& bindings) {
  return flops_of(context.inputs[1], context.attributes.get<Shape>("shape"), bindings);
}

}  // namespace

std::vector<OpDef> conv2d() {
  return {{.name = "conv2d",
           .summary = "y (B, O, OH, OW) = images x (B, C, H, W) under a moving window, weight "
                      "(O, C / groups, KH, KW) + bias (O)",
           .inputs = {"x", {"weight", OperandRole::weight}, {"bias?", OperandRole::bias}},
           .attributes = convolution_attributes(),
           .trait = Trait::contraction,
           .infer = infer,
           .reference = forward,
           .gradient = gradient,
           .flops = flops},
          {.name = "conv2d_input_gradient",
           .summary = "dx, of `shape`, of conv2d by weight and dy",
           .inputs = {{"weight", OperandRole::weight}, "dy"},
           .attributes = gradient_attributes(),
           .trait = Trait::contraction,
           .infer = infer_input_gradient,
           .reference = input_gradient,
           .flops = input_gradient_flops},
          {.name = "conv2d_weight_gradient",
           .summary = "dweight, of `shape`, of conv2d by x and dy",
           .inputs = {"x", "dy"},
           .attributes = gradient_attributes(),
           .trait = Trait::contraction,
           .infer = infer_weight_gradient,
           .reference = weight_gradient,
           .flops = weight_gradient_flops}};
}

}  // namespace hone::ops
