#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hone/base/fields.h"
#include "hone/formats/format.h"

/// What of a model is quantized, and how.
namespace hone {

/// The operands of an operation that formats are chosen for.
enum class Operand : std::uint8_t { input, weight, bias, output };
inline constexpr Operand kOperands[] = {Operand::input, Operand::weight, Operand::bias,
                                        Operand::output};
std::span<const EnumWord> enum_words(Operand);
std::string_view to_string(Operand operand);

/// The formats of one operation's operands; what has none stays in full precision.
struct LayerFormats {
  std::optional<Format> input = std::nullopt;
  std::optional<Format> weight = std::nullopt;
  std::optional<Format> bias = std::nullopt;
  std::optional<Format> output = std::nullopt;

  const std::optional<Format>& operator[](Operand operand) const;
  std::optional<Format>& operator[](Operand operand);
  /// One format for everything the operation reads.
  static LayerFormats reads(const Format& format) { return {format, format, format, std::nullopt}; }
  bool operator==(const LayerFormats&) const = default;
};

/// Layers by the name of their node, in the order of the graph. Layers that are not named stay as
/// they are.
using QuantizationPlan = std::vector<std::pair<std::string, LayerFormats>>;

/// The format that all quantized operands of the plan share; "weight A, input B" where operands of one kind do; else
/// "mixed (n formats)". "none" for a plan without any.
std::string summary(const QuantizationPlan& plan);

}  // namespace hone
