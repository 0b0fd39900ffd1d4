#include "hone/kernels/scalar/activation.h"
#include "hone/ops/of_formula.h"
#include "hone/ops/rules.h"

// y = x Phi(x): Hendrycks and Gimpel, "Gaussian error linear units", 2016. approximate = "none" uses erf; "tanh" uses
// 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))).
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

std::vector<Formula> forward(const Attributes& attributes, std::span<const Formula> in) {
  return {by_tanh(attributes) ? scalar::gelu_tanh(in[0]) : scalar::gelu_erf(in[0])};
}

std::vector<Formula> backward(const Attributes& attributes, std::span<const Formula> in) {
  return {by_tanh(attributes) ? scalar::gelu_tanh_gradient(in[0], in[1])
                              : scalar::gelu_erf_gradient(in[0], in[1])};
}

}  // namespace

std::vector<OpDef> gelu() {
  return {of_formula({.name = "gelu",
                      .summary = "y = x Phi(x), by erf (approximate=\"none\") or tanh",
                      .inputs = {"x"},
                      .attributes = {{"approximate", std::string("none")}},
                      .in_place = 0,
                      .infer = infer,
                      .formula = forward,
                      .gradient = [](GradientContext& c) -> std::vector<Value> {
                        return {c.add("gelu_gradient", {c.input(0), c.output_gradient()},
                                      c.node.attributes())};
                      },
                      .flops = one_per_element}),
          of_formula({.name = "gelu_gradient",
                      .summary = "dx = dy gelu'(x)",
                      .inputs = {"x", "dy"},
                      .attributes = {{"approximate", std::string("none")}},
                      .in_place = 1,
                      .infer = infer,
                      .formula = backward,
                      .flops = one_per_element})};
}

}  // namespace hone::ops
