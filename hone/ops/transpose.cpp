#include "hone/ops/reference.h"
#include "hone/ops/rules.h"

// Axis i of y is axis axes[i] of x. A view.
namespace hone::ops {
namespace {

Sizes axes_of(const Attributes& attributes) {
  Sizes axes;
  for (const Dim& axis : attributes.get<Shape>("axes")) axes.push_back(axis.size);
  return axes;
}

std::vector<Type> infer(const TypeContext& context) {
  user_check(std::holds_alternative<Shape>(*context.attributes.find("axes")),
             "axes must be a list such as [0, 2, 1]");
  const Type& x = context.inputs[0];
  const Sizes axes = axes_of(context.attributes);
  Sizes sorted = axes;
  std::sort(sorted.begin(), sorted.end());
  bool permutation = axes.size() == x.shape.size();
  for (std::size_t i = 0; permutation && i < sorted.size(); ++i)
    permutation = sorted[i] == static_cast<std::int64_t>(i);
  user_check(permutation, "axes {} are not a permutation of the axes of {}", to_string(axes),
             to_string(x));
  Type y{x.dtype, {}};
  for (const std::int64_t axis : axes) y.shape.push_back(x.dim(axis));
  return {y};
}

std::vector<Value> gradient(GradientContext& c) {
  const Sizes axes = axes_of(c.node.attributes());
  Shape inverse(axes.size());
  for (std::size_t i = 0; i < axes.size(); ++i)
    inverse[static_cast<std::size_t>(axes[i])] = Dim(static_cast<std::int64_t>(i));
  return {c.add("transpose", {c.output_gradient()}, {{"axes", inverse}})};
}

}  // namespace

std::vector<OpDef> transpose() {
  return {{.name = "transpose",
           .summary = "axis i of y is axis axes[i] of x",
           .inputs = {"x"},
           .attributes = {{"axes", {}}},
           .trait = Trait::view,
           .aliases = {0},
           .infer = infer,
           .reference =
               [](Call& call) {
                 call.set_output(0, call.input(0).transpose(axes_of(call.attributes)));
               },
           .gradient = gradient}};
}

}  // namespace hone::ops
