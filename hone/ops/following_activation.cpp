#include "hone/ops/following_activation.h"

#include <array>
#include <cmath>

#include "hone/base/error.h"
#include "hone/kernels/scalar/activation.h"

namespace hone::ops {
namespace {

constexpr std::array<ActivationRow, 5> kActivations = {
    {{"none", [](double x) { return x; }},
     {"relu", scalar::relu<double>},
     {"gelu", scalar::gelu_erf<double>},
     {"gelu_tanh", scalar::gelu_tanh<double>},
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
