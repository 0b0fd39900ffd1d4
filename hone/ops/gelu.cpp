#include "hone/kernels/scalar/activation.h"
#include "hone/ops/reference.h"
#include "hone/ops/rules.h"

// y = x Phi(x): Hendrycks and Gimpel, "Gaussian error linear units", 2016. approximate = "none"
// takes erf; "tanh" takes 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))).
namespace hone::ops {
namespace {

bool by_tanh(const Attributes& attributes) {
  const std::string& name = attributes.get<std::string>("approximate");
  user_check(name == "none" || name == "tanh",
             "approximate must be \"none\" or \"tanh\", got \"{}\"", name);
  return name == "tanh";
}

std::vector<Type> infer(const TypeContext& context) {
  by_tanh(context.attributes);
  return same_as_first(context);
}

void forward(Call& call) {
  reference::map(call,
                 by_tanh(call.attributes) ? scalar::gelu_tanh<double> : scalar::gelu_erf<double>);
}

void backward(Call& call) {
  reference::map2(call, by_tanh(call.attributes) ? scalar::gelu_tanh_gradient<double>
                                                 : scalar::gelu_erf_gradient<double>);
}

}  // namespace

std::vector<OpDef> gelu() {
  return {
      {.name = "gelu",
       .summary = "y = x Phi(x), by erf (approximate=\"none\") or tanh",
       .inputs = {"x"},
       .attributes = {{"approximate", std::string("none")}},
       .trait = Trait::element_wise,
       .in_place = 0,
       .infer = infer,
       .reference = forward,
       .gradient = [](GradientContext& c) -> std::vector<Value> {
         return {c.add("gelu_gradient", {c.input(0), c.output_gradient()}, c.node.attributes())};
       },
       .flops = one_per_element},
      {.name = "gelu_gradient",
       .summary = "dx = dy gelu'(x)",
       .inputs = {"x", "dy"},
       .attributes = {{"approximate", std::string("none")}},
       .trait = Trait::element_wise,
       .in_place = 1,
       .infer = infer,
       .reference = backward,
       .flops = one_per_element}};
}

}  // namespace hone::ops
