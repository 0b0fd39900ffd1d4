#include "hone/ops/reference.h"
#include "hone/ops/rules.h"

// y = x converted to another type: to nearest, ties to even. Gradients are cast back.
namespace hone::ops {
namespace {

DType target(const Attributes& attributes) {
  return parse_dtype(attributes.get<std::string>("dtype"));
}

std::vector<Type> infer(const TypeContext& context) {
  expect_float(context.inputs[0], "x");
  const Type y{target(context.attributes), context.inputs[0].shape};
  expect_float(y, "y");
  return {y};
}

// Works in fp32, which can represent the values of every type: see `run_reference`.
void forward(Call& call) {
  reference::map(call, [](double x) { return x; });
}

}  // namespace

std::vector<OpDef> cast() {
  return {{.name = "cast",
           .summary = "y = x as bf16, f16 or f32",
           .inputs = {"x"},
           .attributes = {{"dtype", {}}},
           .trait = Trait::element_wise,
           .infer = infer,
           .reference = forward,
           .gradient = [](GradientContext& c) -> std::vector<Value> {
             const std::string dtype(info(c.input(0).type().dtype).name);
             return {c.add("cast", {c.output_gradient()}, {{"dtype", dtype}})};
           },
           .flops = one_per_element}};
}

}  // namespace hone::ops
