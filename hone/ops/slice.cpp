#include "hone/ops/reference.h"
#include "hone/ops/rules.h"

// y = x[begin : begin + size] along an axis. A view. `size` is a list of one dimension, so it can be a symbol.
namespace hone::ops {
namespace {

std::vector<Type> infer(const TypeContext& context) {
  Type type = context.inputs[0];
  const std::int64_t axis = context.attributes.get<std::int64_t>("axis");
  const std::int64_t begin = context.attributes.get<std::int64_t>("begin");
  const Attribute& size = *context.attributes.find("size");
  user_check(std::holds_alternative<Shape>(size) && std::get<Shape>(size).size() == 1,
             "size must be a list of one dimension");
  user_check(axis >= 0 && axis < type.rank() && begin >= 0, "cannot slice axis {} of {} from {}",
             axis, to_string(type), begin);
  Dim& dim = type.shape[static_cast<std::size_t>(axis)];
  const Dim& wanted = std::get<Shape>(size)[0];
  user_check(wanted.size >= 0, "size must be at least 0, got {}", wanted.size);
  user_check(dim.symbol != 0 || wanted.symbol != 0 || begin + wanted.size <= dim.size,
             "cannot take {} elements from {} on along axis {} of {}", wanted.size, begin, axis,
             to_string(type));
  dim = wanted;
  return {type};
}

void forward(Call& call) {
  const std::int64_t axis = call.attributes.get<std::int64_t>("axis");
  const std::int64_t begin = call.attributes.get<std::int64_t>("begin");
  const std::int64_t end = begin + resolve(call.attributes.get<Shape>("size")[0], call.bindings);
  const Tensor& x = call.input(0);
  user_check(end <= x.size(axis), "the input needs {} places along axis {}, there are {}", end,
             axis, x.size(axis));
  call.set_output(0, x.slice(axis, begin, end));
}

// The gradient is dy in the slice and zero elsewhere.
std::vector<Type> infer_gradient(const TypeContext& context) {
  user_check(std::holds_alternative<Shape>(*context.attributes.find("shape")),
             "shape must be a list such as [B, 4]");
  const Type dx{expect_float(context.inputs[0], "dy"), context.attributes.get<Shape>("shape")};
  expect_rank(context.inputs[0], dx.rank(), "dy");
  const std::int64_t axis = context.attributes.get<std::int64_t>("axis");
  const std::int64_t begin = context.attributes.get<std::int64_t>("begin");
  user_check(axis >= 0 && axis < dx.rank() && begin >= 0, "cannot slice axis {} of {} from {}",
             axis, to_string(dx), begin);
  return {dx};
}

void backward(Call& call) {
  const Tensor& dy = call.input(0);
  Tensor& dx = call.output();
  std::ranges::fill(dx.values<float>(), 0.0f);
  const std::int64_t axis = call.attributes.get<std::int64_t>("axis");
  const std::int64_t begin = call.attributes.get<std::int64_t>("begin");
  const Tensor place = dx.slice(axis, begin, begin + dy.size(axis));
  for_each_element<2>(dy.sizes(), {&dy.strides(), &place.strides()}, [&](const auto& at) {
    place.data<float>()[at[1]] = dy.data<float>()[at[0]];
  });
}

}  // namespace

std::vector<OpDef> slice() {
  return {{.name = "slice",
           .summary = "y = x[begin : begin + size] along an axis",
           .inputs = {"x"},
           .attributes = {{"axis", std::int64_t{0}}, {"begin", std::int64_t{0}}, {"size", {}}},
           .trait = Trait::view,
           .aliases = {0},
           .infer = infer,
           .reference = forward,
           .gradient = [](GradientContext& c) -> std::vector<Value> {
             return {c.add("slice_gradient", {c.output_gradient()},
                           {{"axis", *c.node.attributes().find("axis")},
                            {"begin", *c.node.attributes().find("begin")},
                            {"shape", c.input(0).type().shape}})};
           }},
          {.name = "slice_gradient",
           .summary = "dx = dy at [begin : begin + size] of an axis, zero elsewhere",
           .inputs = {"dy"},
           .attributes = {{"axis", std::int64_t{0}}, {"begin", std::int64_t{0}}, {"shape", {}}},
           .infer = infer_gradient,
           .reference = backward}};
}

}  // namespace hone::ops
