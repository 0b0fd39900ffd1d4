#include "hone/ops/reference.h"
#include "hone/ops/rules.h"

// Concatenates values along an axis. Their other extents are equal.
namespace hone::ops {
namespace {

std::vector<Type> infer(const TypeContext& context) {
  user_check(!context.inputs.empty(), "concat needs at least one value");
  const std::int64_t axis = context.attributes.get<std::int64_t>("axis");
  Type y = context.inputs[0];
  user_check(axis >= 0 && axis < y.rank(), "there is no axis {} in {}", axis, to_string(y));
  std::int64_t size = 0;
  for (const Type& input : context.inputs) {
    expect_dtype(input, expect_float(y, "values"), "values");
    expect_rank(input, y.rank(), "values");
    for (std::int64_t i = 0; i < y.rank(); ++i)
      if (i != axis) expect_equal(input.dim(i), y.dim(i), "sizes of the other axes");
    const Dim& along = input.dim(axis);
    user_check(along.symbol == 0, "sizes along axis {} must be fixed, got {}", axis,
               to_string(input));
    size += along.size;
  }
  y.shape[static_cast<std::size_t>(axis)] = Dim(size);
  return {y};
}

void forward(Call& call) {
  const std::int64_t axis = call.attributes.get<std::int64_t>("axis");
  Tensor& y = call.output();
  std::int64_t begin = 0;
  for (std::size_t i = 0; i < call.inputs.size(); ++i) {
    const Tensor& x = call.input(i);
    const Tensor place = y.slice(axis, begin, begin + x.size(axis));
    begin += x.size(axis);
    for_each_element<2>(x.sizes(), {&x.strides(), &place.strides()}, [&](const auto& at) {
      place.data<float>()[at[1]] = x.data<float>()[at[0]];
    });
  }
}

std::vector<Value> gradient(GradientContext& c) {
  const std::int64_t axis = c.node.attributes().get<std::int64_t>("axis");
  std::vector<Value> gradients;
  std::int64_t begin = 0;
  for (const Value& input : c.node.inputs()) {
    const Dim& size = input.type().dim(axis);
    gradients.push_back(c.add("slice", {c.output_gradient()},
                              {{"axis", axis}, {"begin", begin}, {"size", Shape{size}}}));
    begin += size.size;
  }
  return gradients;
}

}  // namespace

std::vector<OpDef> concat() {
  return {{.name = "concat",
           .summary = "y = the values concatenated along an axis",
           .inputs = {"values..."},
           .attributes = {{"axis", {}}},
           .infer = infer,
           .reference = forward,
           .gradient = gradient}};
}

}  // namespace hone::ops
