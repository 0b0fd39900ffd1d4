#include "hone/kernels/scalar/activation.h"
#include "hone/ops/of_formula.h"
#include "hone/ops/rules.h"

// y = max(x, 0); the gradient at 0 is 0.
namespace hone::ops {

std::vector<OpDef> relu() {
  return {of_formula({.name = "relu",
                      .summary = "y = max(x, 0)",
                      .inputs = {"x"},
                      .in_place = 0,
                      .infer = same_as_first,
                      .formula =
                          [](const Attributes&, std::span<const Formula> in) {
                            return std::vector{scalar::relu(in[0])};
                          },
                      .gradient = [](GradientContext& c) -> std::vector<Value> {
                        return {c.add("relu_gradient", {c.result(), c.output_gradient()})};
                      },
                      .flops = one_per_element}),
          of_formula({.name = "relu_gradient",
                      .summary = "dx = dy where y > 0, else 0",
                      .inputs = {"y", "dy"},
                      .in_place = 1,
                      .infer = same_as_first,
                      .formula =
                          [](const Attributes&, std::span<const Formula> in) {
                            return std::vector{scalar::relu_gradient(in[0], in[1])};
                          },
                      .flops = one_per_element})};
}

}  // namespace hone::ops
