#include "hone/ops/of_formula.h"
#include "hone/ops/rules.h"

// y = a * b, with broadcasting.
namespace hone::ops {

std::vector<OpDef> mul() {
  return {
      of_formula({.name = "mul",
                  .summary = "y = a b element by element, shapes broadcast",
                  .inputs = {"a", "b"},
                  .in_place = 0,
                  .infer = broadcast_of_two,
                  .formula = [](const Attributes&,
                                std::span<const Formula> in) { return std::vector{in[0] * in[1]}; },
                  .gradient = [](GradientContext& c) -> std::vector<Value> {
                    return {c.add("mul", {c.output_gradient(), c.input(1)}),
                            c.add("mul", {c.output_gradient(), c.input(0)})};
                  },
                  .flops = one_per_element})};
}

}  // namespace hone::ops
