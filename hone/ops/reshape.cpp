#include "hone/ops/reference.h"
#include "hone/ops/rules.h"

// The same elements in row-major order with another shape. A view if the input has no gaps.
namespace hone::ops {
namespace {

// The sizes of symbols are not known yet, so both sides must have the same symbols and the same product of numbers.
struct Extent {
  std::int64_t size = 1;
  std::string symbols;
  explicit Extent(const Shape& shape) {
    for (const Dim& dim : shape) {
      if (dim.symbol != 0)
        symbols += dim.symbol;
      else
        size *= dim.size;
    }
    std::sort(symbols.begin(), symbols.end());
  }
  bool operator==(const Extent&) const = default;
};

std::vector<Type> infer(const TypeContext& context) {
  user_check(std::holds_alternative<Shape>(*context.attributes.find("shape")),
             "shape must be a list such as [B, 4]");
  const Shape& shape = context.attributes.get<Shape>("shape");
  const Type& x = context.inputs[0];
  user_check(Extent(shape) == Extent(x.shape), "cannot reshape {} to {}", to_string(x),
             to_string(shape));
  return {{x.dtype, shape}};
}

}  // namespace

std::vector<OpDef> reshape() {
  return {{.name = "reshape",
           .summary = "the elements of x in row-major order under another shape",
           .inputs = {"x"},
           .attributes = {{"shape", {}}},
           .trait = Trait::view,
           .aliases = {0},
           .closes_gaps = true,
           .infer = infer,
           .reference =
               [](Call& call) {
                 call.set_output(0, reference::dense(call.input(0)).reshape(call.output_sizes()));
               },
           .gradient = [](GradientContext& c) -> std::vector<Value> {
             return {c.add("reshape", {c.output_gradient()}, {{"shape", c.input(0).type().shape}})};
           }}};
}

}  // namespace hone::ops
