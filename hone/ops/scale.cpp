#include "hone/ops/reference.h"
#include "hone/ops/rules.h"

// y = factor * x, a constant factor.
namespace hone::ops {

std::vector<OpDef> scale() {
  return {{.name = "scale",
           .summary = "y = factor x",
           .inputs = {"x"},
           .attributes = {{"factor", {}}},
           .trait = Trait::element_wise,
           .in_place = 0,
           .infer =
               [](const TypeContext& context) {
                 user_check(std::holds_alternative<double>(*context.attributes.find("factor")),
                            "factor must be a real number");
                 return same_as_first(context);
               },
           .reference =
               [](Call& call) {
                 // The factor acts as the fp32 number it becomes in every fp32 program.
                 const double factor = static_cast<float>(call.attributes.get<double>("factor"));
                 reference::map(call, [factor](double x) { return factor * x; });
               },
           .gradient = [](GradientContext& c) -> std::vector<Value> {
             return {c.add("scale", {c.output_gradient()}, c.node.attributes())};
           },
           .flops = one_per_element}};
}

}  // namespace hone::ops
