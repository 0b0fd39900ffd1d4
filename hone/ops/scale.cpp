#include "hone/ops/of_formula.h"
#include "hone/ops/rules.h"

// y = factor * x, a constant factor.
namespace hone::ops {

std::vector<OpDef> scale() {
  return {of_formula({.name = "scale",
                      .summary = "y = factor x",
                      .inputs = {"x"},
                      .attributes = {{"factor", {}}},
                      .in_place = 0,
                      .infer =
                          [](const TypeContext& context) {
                            user_check(
                                std::holds_alternative<double>(*context.attributes.find("factor")),
                                "factor must be a real number");
                            return same_as_first(context);
                          },
                      .formula =
                          [](const Attributes& attributes, std::span<const Formula> in) {
                            // Every fp32 program rounds the factor to fp32, so this one does too.
                            const Formula factor =
                                static_cast<float>(attributes.get<double>("factor"));
                            return std::vector{factor * in[0]};
                          },
                      .gradient = [](GradientContext& c) -> std::vector<Value> {
                        return {c.add("scale", {c.output_gradient()}, c.node.attributes())};
                      },
                      .flops = one_per_element})};
}

}  // namespace hone::ops
