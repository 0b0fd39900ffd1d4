#include "hone/ops/of_formula.h"
#include "hone/ops/rules.h"

// y = a + b, with broadcasting.
namespace hone::ops {

std::vector<OpDef> add() {
  return {
      of_formula({.name = "add",
                  .summary = "y = a + b, shapes broadcast",
                  .inputs = {"a", "b"},
                  .in_place = 0,
                  .infer = broadcast_of_two,
                  .formula = [](const Attributes&,
                                std::span<const Formula> in) { return std::vector{in[0] + in[1]}; },
                  .flops = one_per_element})};
}

}  // namespace hone::ops
