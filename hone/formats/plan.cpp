#include "hone/formats/plan.h"

#include <fmt/format.h>

#include <set>

namespace hone {

std::string_view to_string(Operand operand) {
  constexpr std::string_view kNames[] = {"input", "weight", "bias", "output"};
  return kNames[static_cast<std::size_t>(operand)];
}

const std::optional<Format>& LayerFormats::operator[](Operand operand) const {
  const std::optional<Format>* formats[] = {&input, &weight, &bias, &output};
  return *formats[static_cast<std::size_t>(operand)];
}

std::optional<Format>& LayerFormats::operator[](Operand operand) {
  return const_cast<std::optional<Format>&>(std::as_const(*this)[operand]);
}

std::string summary(const QuantizationPlan& plan) {
  std::set<std::string> formats;
  for (const auto& [name, layer] : plan)
    for (const Operand operand : kOperands)
      if (layer[operand]) formats.insert(to_string(*layer[operand]));
  if (formats.empty()) return "none";
  return formats.size() == 1 ? *formats.begin() : fmt::format("mixed ({} formats)", formats.size());
}

}  // namespace hone
