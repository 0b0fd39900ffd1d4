#include "hone/runtime/activation_name.h"

#include <utility>

namespace hone {

kernels::Activation activation_called(std::string_view name) {
  constexpr std::pair<std::string_view, kernels::Activation> kActivations[] = {
      {"relu", kernels::Activation::relu},
      {"gelu", kernels::Activation::gelu_erf},
      {"gelu_tanh", kernels::Activation::gelu_tanh},
      {"tanh", kernels::Activation::tanh}};
  for (const auto& [known, activation] : kActivations)
    if (name == known) return activation;
  return kernels::Activation::none;
}

}  // namespace hone
