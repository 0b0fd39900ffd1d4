#include "hone/kernels/scalar/activation.h"
#include "hone/ops/of_formula.h"
#include "hone/ops/rules.h"

// y = x where it is kept, else 0: pruned weights. Pruned elements get no gradient.
namespace hone::ops {
namespace {

std::vector<Type> infer(const TypeContext& context) {
  const Type &x = context.inputs[0], &kept = context.inputs[1];
  expect_dtype(x, DType::f32, "x");
  expect_dtype(kept, DType::boolean, "kept");
  user_check(kept.shape == x.shape, "kept must have the shape of x, {}, got {}", to_string(x),
             to_string(kept));
  return {x};
}

}  // namespace

std::vector<OpDef> mask() {
  return {of_formula({.name = "mask",
                      .summary = "y = x where it is kept, else 0",
                      .inputs = {"x", {"kept", OperandRole::state}},
                      .in_place = 0,
                      .infer = infer,
                      .formula =
                          [](const Attributes&, std::span<const Formula> in) {
                            return std::vector{scalar::mask(in[0], in[1] > 0)};
                          },
                      .gradient = [](GradientContext& c) -> std::vector<Value> {
                        return {c.add("mask", {c.output_gradient(), c.input(1)}), {}};
                      },
                      .flops = one_per_element})};
}

}  // namespace hone::ops
