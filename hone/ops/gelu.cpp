#include <cmath>
#include <numbers>

#include "hone/ops/reference.h"
#include "hone/ops/rules.h"

// y = x Phi(x): Hendrycks and Gimpel, "Gaussian error linear units", 2016. approximate = "none"
// takes erf; "tanh" takes 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))).
namespace hone::ops {
namespace {

constexpr double kCubic = 0.044715;
const double kSlope = std::sqrt(2.0 / std::numbers::pi);

double gelu_erf(double x) { return 0.5 * x * (1 + std::erf(x / std::numbers::sqrt2)); }
double gelu_erf_derivative(double x) {
  const double density = std::exp(-0.5 * x * x) / std::sqrt(2 * std::numbers::pi);
  return 0.5 * (1 + std::erf(x / std::numbers::sqrt2)) + x * density;
}

double gelu_tanh(double x) { return 0.5 * x * (1 + std::tanh(kSlope * (x + kCubic * x * x * x))); }
double gelu_tanh_derivative(double x) {
  const double t = std::tanh(kSlope * (x + kCubic * x * x * x));
  return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * kSlope * (1 + 3 * kCubic * x * x);
}

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

void forward(Call& call) { reference::map(call, by_tanh(call.attributes) ? gelu_tanh : gelu_erf); }

void backward(Call& call) {
  const auto derivative = by_tanh(call.attributes) ? gelu_tanh_derivative : gelu_erf_derivative;
  reference::map2(call, [derivative](double x, double dy) { return dy * derivative(x); });
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
