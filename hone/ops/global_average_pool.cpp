#include "hone/ops/convolution_rules.h"
#include "hone/ops/reference.h"
#include "hone/ops/rules.h"

// y[b, c] = mean of x[b, c, …];   x (B, C, H, W)
namespace hone::ops {
namespace {

std::vector<Type> infer(const TypeContext& context) {
  const Type& x = context.inputs[0];
  expect_images(x, "x");
  return {{x.dtype, {x.dim(0), x.dim(1)}}};
}

void forward(Call& call) {
  const Tensor x = reference::dense(call.input(0));
  const std::int64_t pixels = x.size(2) * x.size(3);
  std::vector<double> means(static_cast<std::size_t>(x.size(0) * x.size(1)));
  for (std::int64_t i = 0; i < x.count(); ++i)
    means[static_cast<std::size_t>(i / pixels)] +=
        static_cast<double>(x.data<float>()[i]) / static_cast<double>(pixels);
  reference::store(means, call.output());
}

std::vector<Type> infer_gradient(const TypeContext& context) {
  user_check(std::holds_alternative<Shape>(*context.attributes.find("shape")),
             "shape must be a list such as [B, 512, 7, 7]");
  const DType dtype = expect_float(context.inputs[0], "dy");
  const Type x{dtype, context.attributes.get<Shape>("shape")};
  expect_images(x, "shape");
  const Type y{dtype, {x.dim(0), x.dim(1)}};
  user_check(context.inputs[0] == y, "dy must be {}, got {}", to_string(y),
             to_string(context.inputs[0]));
  return {x};
}

void backward(Call& call) {
  const Tensor dy = reference::dense(call.input(0));
  Tensor& dx = call.output();
  const std::int64_t pixels = dx.size(2) * dx.size(3);
  for (std::int64_t i = 0; i < dx.count(); ++i)
    dx.data<float>()[i] = static_cast<float>(static_cast<double>(dy.data<float>()[i / pixels]) /
                                             static_cast<double>(pixels));
}

}  // namespace

std::vector<OpDef> global_average_pool() {
  return {{.name = "global_average_pool",
           .summary = "y (B, C) = the mean of each channel of images x (B, C, H, W)",
           .inputs = {"x"},
           .infer = infer,
           .reference = forward,
           .gradient = [](GradientContext& c) -> std::vector<Value> {
             return {c.add("global_average_pool_gradient", {c.output_gradient()},
                           {{"shape", c.input(0).type().shape}})};
           },
           .flops = one_per_element},
          {.name = "global_average_pool_gradient",
           .summary = "dx, of `shape`, of global_average_pool",
           .inputs = {"dy"},
           .attributes = {{"shape", {}}},
           .infer = infer_gradient,
           .reference = backward,
           .flops = one_per_element}};
}

}  // namespace hone::ops
