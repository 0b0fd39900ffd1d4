#include "hone/kernels/scalar/activation.h"
#include "hone/ops/reference.h"
#include "hone/ops/rules.h"

// y = max(x, 0); the gradient at 0 is 0.
namespace hone::ops {

std::vector<OpDef> relu() {
  return {{.name = "relu",
           .summary = "y = max(x, 0)",
           .inputs = {"x"},
           .trait = Trait::element_wise,
           .in_place = 0,
           .infer = same_as_first,
           .reference = [](Call& call) { reference::map(call, scalar::relu<double>); },
           .gradient = [](GradientContext& c) -> std::vector<Value> {
             return {c.add("relu_gradient", {c.result(), c.output_gradient()})};
           },
           .flops = one_per_element},
          {.name = "relu_gradient",
           .summary = "dx = dy where y > 0, else 0",
           .inputs = {"y", "dy"},
           .trait = Trait::element_wise,
           .in_place = 1,
           .infer = same_as_first,
           .reference = [](Call& call) { reference::map2(call, scalar::relu_gradient<double>); },
           .flops = one_per_element}};
}

}  // namespace hone::ops
