#include "hone/formats/plan.h"

#include <fmt/format.h>

#include <map>
#include <set>

namespace hone {

std::span<const EnumName> enum_names(Operand) {
  static constexpr EnumName kWords[] = {{static_cast<int>(Operand::input), "input"},
                                        {static_cast<int>(Operand::weight), "weight"},
                                        {static_cast<int>(Operand::bias), "bias"},
                                        {static_cast<int>(Operand::output), "output"}};
  return kWords;
}
std::string_view to_string(Operand operand) { return enum_name(operand); }

const std::optional<Format>& LayerFormats::operator[](Operand operand) const {
  const std::optional<Format>* formats[] = {&input, &weight, &bias, &output};
  return *formats[static_cast<std::size_t>(operand)];
}

std::optional<Format>& LayerFormats::operator[](Operand operand) {
  return const_cast<std::optional<Format>&>(std::as_const(*this)[operand]);
}

std::string summary(const QuantizationPlan& plan) {
  std::set<std::string> formats;
  std::map<Operand, std::set<std::string>> of_operand;
  for (const auto& [name, layer] : plan) {
    for (const Operand operand : kOperands) {
      if (!layer[operand]) continue;
      formats.insert(to_string(*layer[operand]));
      of_operand[operand].insert(to_string(*layer[operand]));
    }
  }
  if (formats.empty()) return "none";
  if (formats.size() == 1) return *formats.begin();
  std::string text;
  // Weights come first, because formats are usually named after them.
  for (const Operand operand : {Operand::weight, Operand::bias, Operand::input, Operand::output}) {
    if (!of_operand.contains(operand)) continue;
    if (of_operand[operand].size() > 1) return fmt::format("mixed ({} formats)", formats.size());
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", to_string(operand),
                        *of_operand[operand].begin());
  }
  return text;
}

}  // namespace hone
