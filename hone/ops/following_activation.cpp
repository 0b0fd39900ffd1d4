#include "hone/ops/following_activation.h"

#include <array>
#include <cmath>
#include <numbers>

#include "hone/base/error.h"

namespace hone::ops {
namespace {

double gelu_tanh(double x) {
  return 0.5 * x * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
}

constexpr std::array<ActivationRow, 5> kActivations = {
    {{"none", [](double x) { return x; }},
     {"relu", [](double x) { return x < 0 ? 0 : x; }},
     {"gelu", [](double x) { return 0.5 * x * (1 + std::erf(x / std::numbers::sqrt2)); }},
     {"gelu_tanh", gelu_tanh},
     {"tanh", [](double x) { return std::tanh(x); }}}};

}  // namespace

const ActivationRow& activation_of(const Attributes& attributes) {
  const auto& name = attributes.get<std::string>("activation");
  for (const ActivationRow& row : kActivations)
    if (row.name == name) return row;
  throw UserError(
      fmt::format("activation must be none, relu, gelu, gelu_tanh or tanh, got \"{}\"", name));
}

}  // namespace hone::ops
