#include "hone/kernels/scalar/activation.h"
#include "hone/ops/of_formula.h"
#include "hone/ops/rules.h"

// y = tanh(x)
namespace hone::ops {

std::vector<OpDef> tanh() {
  return {of_formula({.name = "tanh",
                      .summary = "y = tanh(x)",
                      .inputs = {"x"},
                      .in_place = 0,
                      .infer = same_as_first,
                      .formula =
                          [](const Attributes&, std::span<const Formula> in) {
                            return std::vector{hone::tanh(in[0])};
                          },
                      .gradient = [](GradientContext& c) -> std::vector<Value> {
                        return {c.add("tanh_gradient", {c.result(), c.output_gradient()})};
                      },
                      .flops = one_per_element}),
          of_formula({.name = "tanh_gradient",
                      .summary = "dx = dy (1 - y^2)",
                      .inputs = {"y", "dy"},
                      .in_place = 1,
                      .infer = same_as_first,
                      .formula =
                          [](const Attributes&, std::span<const Formula> in) {
                            return std::vector{scalar::tanh_gradient(in[0], in[1])};
                          },
                      .flops = one_per_element})};
}

}  // namespace hone::ops
