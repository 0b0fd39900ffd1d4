#include "hone/ops/reference.h"
#include "hone/ops/rules.h"

// The reverse of broadcasting: sums x over the axes along which `shape` was broadcast to x.
namespace hone::ops {
namespace {

std::vector<Type> infer(const TypeContext& context) {
  const DType dtype = expect_float(context.inputs[0], "x");
  user_check(std::holds_alternative<Shape>(*context.attributes.find("shape")),
             "shape must be a list such as [B, 4]");
  const Shape& shape = context.attributes.get<Shape>("shape");
  user_check(broadcast(shape, context.inputs[0].shape) == context.inputs[0].shape,
             "{} does not broadcast to {}", to_string(shape), to_string(context.inputs[0]));
  return {{dtype, shape}};
}

void forward(Call& call) {
  const Tensor& x = call.input(0);
  Tensor& y = call.output();
  const Sizes y_strides = reference::broadcast_strides(y, x.sizes());
  std::vector<double> sums(static_cast<std::size_t>(y.count()));
  for_each_element<2>(x.sizes(), {&x.strides(), &y_strides}, [&](const auto& at) {
    sums[static_cast<std::size_t>(at[1])] += static_cast<double>(x.data<float>()[at[0]]);
  });
  reference::store(sums, y);
}

}  // namespace

std::vector<OpDef> sum_to() {
  return {{.name = "sum_to",
           .summary = "x summed over the axes along which `shape` broadcasts to x",
           .inputs = {"x"},
           .attributes = {{"shape", {}}},
           .infer = infer,
           .reference = forward,
           .gradient = [](GradientContext& c) -> std::vector<Value> {
             const std::string dtype(info(c.input(0).type().dtype).name);
             const Value zeros = c.add("full", {c.input(0)}, {{"value", 0.0}, {"dtype", dtype}});
             return {c.add("add", {zeros, c.output_gradient()})};
           },
           .flops = one_per_element}};
}

}  // namespace hone::ops
