#include <cmath>

#include "hone/kernels/scalar/activation.h"
#include "hone/ops/reference.h"
#include "hone/ops/rules.h"

// y = tanh(x)
namespace hone::ops {

std::vector<OpDef> tanh() {
  return {
      {.name = "tanh",
       .summary = "y = tanh(x)",
       .inputs = {"x"},
       .trait = Trait::element_wise,
       .in_place = 0,
       .infer = same_as_first,
       .reference = [](Call& call) { reference::map(call, [](double x) { return std::tanh(x); }); },
       .gradient = [](GradientContext& c) -> std::vector<Value> {
         return {c.add("tanh_gradient", {c.result(), c.output_gradient()})};
       },
       .flops = one_per_element},
      {.name = "tanh_gradient",
       .summary = "dx = dy (1 - y^2)",
       .inputs = {"y", "dy"},
       .trait = Trait::element_wise,
       .in_place = 1,
       .infer = same_as_first,
       .reference = [](Call& call) { reference::map2(call, scalar::tanh_gradient<double>); },
       .flops = one_per_element}};
}

}  // namespace hone::ops
