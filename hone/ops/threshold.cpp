#include "hone/kernels/scalar/activation.h"
#include "hone/ops/of_formula.h"
#include "hone/ops/rules.h"

// y = x where |x| >= least, else 0: pruned activations. `least` is a scalar state. Gradients pass where values do.
namespace hone::ops {
namespace {

std::vector<Type> infer_state(const TypeContext& context, std::size_t state) {
  const Type& x = context.inputs[0];
  expect_dtype(x, DType::f32, "x");
  const Type& least = context.inputs[state];
  user_check((least == Type{DType::f32, {}}), "least must be f32[], got {}", to_string(least));
  return {x};
}

}  // namespace

std::vector<OpDef> threshold() {
  return {of_formula({.name = "threshold",
                      .summary = "y = x where |x| >= least, else 0",
                      .inputs = {"x", {"least", OperandRole::state}},
                      .in_place = 0,
                      .infer = [](const TypeContext& context) { return infer_state(context, 1); },
                      .formula =
                          [](const Attributes&, std::span<const Formula> in) {
                            return std::vector{scalar::threshold(in[0], in[1])};
                          },
                      .gradient = [](GradientContext& c) -> std::vector<Value> {
                        return {c.add("threshold_gradient",
                                      {c.input(0), c.output_gradient(), c.input(1)}),
                                {}};
                      },
                      .flops = one_per_element}),
          of_formula({.name = "threshold_gradient",
                      .summary = "dx = dy where |x| >= least, else 0",
                      .inputs = {"x", "dy", {"least", OperandRole::state}},
                      .in_place = 1,
                      .infer =
                          [](const TypeContext& context) {
                            user_check(context.inputs[0] == context.inputs[1],
                                       "dy must be like x, {}, got {}",
                                       to_string(context.inputs[0]), to_string(context.inputs[1]));
                            return infer_state(context, 2);
                          },
                      .formula =
                          [](const Attributes&, std::span<const Formula> in) {
                            return std::vector{scalar::threshold_gradient(in[0], in[1], in[2])};
                          },
                      .flops = one_per_element})};
}

}  // namespace hone::ops
