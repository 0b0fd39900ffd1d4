#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hone/base/fields.h"
#include "hone/formats/format.h"

/// The operands of a model to quantize, and their formats.
namespace hone {

/// The operands of an operation that can have a format.
enum class Operand : std::uint8_t { input, weight, bias, output };
inline constexpr Operand kOperands[] = {Operand::input, Operand::weight, Operand::bias,
                                        Operand::output};
std::span<const EnumName> enum_names(Operand);
std::string_view to_string(Operand operand);

/// The formats of one operation's operands. Operands without a format stay in full precision.
struct LayerFormats {
  std::optional<Format> input = std::nullopt;
  std::optional<Format> weight = std::nullopt;
  std::optional<Format> bias = std::nullopt;
  std::optional<Format> output = std::nullopt;

  const std::optional<Format>& operator[](Operand operand) const;
  std::optional<Format>& operator[](Operand operand);
  /// Returns one format for everything the operation reads.
  static LayerFormats reads(const Format& format) { return {format, format, format, std::nullopt}; }
  bool operator==(const LayerFormats&) const = default;
};

/// Layers by node name, in the order of the graph. Layers that are not listed stay unchanged.
using QuantizationPlan = std::vector<std::pair<std::string, LayerFormats>>;

/// Returns the format that all quantized operands of the plan share; "weight A, input B" if operands of the same kind
/// share one; else "mixed (n formats)". "none" for an empty plan.
std::string summary(const QuantizationPlan& plan);

}  // namespace hone
