#include "hone/frontends/huggingface/activation.h"

#include <algorithm>

namespace hone {
namespace {

const std::vector<Activation>& activations() {
  static const std::vector<Activation> rows = {
      {"gelu", "gelu", {{"approximate", std::string("none")}}},
      {"gelu_new", "gelu", {{"approximate", std::string("tanh")}}},
      {"gelu_pytorch_tanh", "gelu", {{"approximate", std::string("tanh")}}},
      {"relu", "relu", {}},
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
