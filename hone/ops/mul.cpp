#include "hone/ops/reference.h"
#include "hone/ops/rules.h"

// y = a * b, with broadcasting.
namespace hone::ops {

std::vector<OpDef> mul() {
  return {{.name = "mul",
           .summary = "y = a b element by element, shapes broadcast",
           .inputs = {"a", "b"},
           .trait = Trait::element_wise,
           .in_place = 0,
           .infer = broadcast_of_two,
           .reference =
               [](Call& call) { reference::map2(call, [](double a, double b) { return a * b; }); },
           .gradient = [](GradientContext& c) -> std::vector<Value> {
             return {c.add("mul", {c.output_gradient(), c.input(1)}),
                     c.add("mul", {c.output_gradient(), c.input(0)})};
           },
           .flops = one_per_element}};
}

}  // namespace hone::ops
