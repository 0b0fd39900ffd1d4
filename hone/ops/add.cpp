#include "hone/ops/reference.h"
#include "hone/ops/rules.h"

// y = a + b, with broadcasting.
namespace hone::ops {

std::vector<OpDef> add() {
  return {{.name = "add",
           .summary = "y = a + b, shapes broadcast",
           .inputs = {"a", "b"},
           .trait = Trait::element_wise,
           .in_place = 0,
           .infer = broadcast_of_two,
           .reference =
               [](Call& call) { reference::map2(call, [](double a, double b) { return a + b; }); },
           .gradient = [](GradientContext& c) -> std::vector<Value> {
             return {c.output_gradient(), c.output_gradient()};
           },
           .flops = one_per_element}};
}

}  // namespace hone::ops
