#include "hone/frontends/huggingface/activation.h"

#include <algorithm>

namespace hone {
namespace {

Activation gelu_called(std::string_view name, const char* approximate) {
  return {name, "gelu", {{"approximate", std::string(approximate)}}};
}

Activation activation_of_formula(std::string_view name, const char* formula) {
  return {name, "elementwise", {{"formula", std::string(formula)}}};
}

// x sigmoid(a x) = x (1 + tanh(a x / 2)) / 2, and x tanh(log(1 + exp x)) with t = tanh(x / 2). Neither overflows, nor
// do their derivatives.
constexpr const char *kSilu = "x0 * (0.5 + 0.5 * tanh(0.5 * x0))",
                     *kQuickGelu = "x0 * (0.5 + 0.5 * tanh(0.851 * x0))",
                     *kMish =
                         "t0 = tanh(0.5 * x0); "
                         "x0 * (3 + 2 * t0 - t0 * t0) / (5 - 2 * t0 + t0 * t0)";

const std::vector<Activation>& activations() {
  static const std::vector<Activation> rows = {
      gelu_called("gelu", "none"),
      gelu_called("gelu_accurate", "tanh"),
      gelu_called("gelu_fast", "tanh"),
      gelu_called("gelu_new", "tanh"),
      gelu_called("gelu_python", "none"),
      gelu_called("gelu_python_tanh", "tanh"),
      gelu_called("gelu_pytorch_tanh", "tanh"),
      activation_of_formula("mish", kMish),
      activation_of_formula("quick_gelu", kQuickGelu),
      {"relu", "relu", {}},
      activation_of_formula("silu", kSilu),
      activation_of_formula("swish", kSilu),
      {"tanh", "tanh", {}},
  };
  return rows;
}

}  // namespace

const Activation* find_activation(std::string_view name) {
  const auto found = std::ranges::find(activations(), name, &Activation::name);
  return found == activations().end() ? nullptr : &*found;
}

std::vector<std::string> activation_names() {
  std::vector<std::string> names;
  for (const Activation& row : activations()) names.emplace_back(row.name);
  return names;
}

}  // namespace hone
