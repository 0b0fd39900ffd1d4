#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hone/formats/plan.h"

/// What layers may take, and what all of them together may cost, as people write it.
namespace hone {

/// A format for operands of a layer, or full precision.
struct FormatOption {
  std::string text;                          ///< as it was written; "none"
  std::optional<LayerFormats> formats = {};  ///< none: full precision
};

/// What layers read.
inline constexpr Operand kReadOperands[] = {Operand::input, Operand::weight, Operand::bias};

/// By their names, of those that layers read; the weight, whose bits budgets are of, is among them. Throws `UserError`.
std::vector<Operand> parse_operands(const std::vector<std::string>& names);

/// "int(bits=8),mxint(bits=4),none", for these operands: at least two, by commas outside of parentheses. Throws `UserError` for what is no format, one that
/// stands twice, and a list with nothing to choose from.
std::vector<FormatOption> parse_format_options(std::string_view text,
                                               const std::vector<Operand>& operands,
                                               const FormatTable& formats);

/// What a budget bounds: the figures of that name that searches have too.
enum class BudgetFigure : std::uint8_t {
  average_bits,  ///< of a weight of the layers that are allocated, what blocks and rows share included
  packed_bytes,  ///< of all weights of the model, each in its format
  latency_ms,    ///< of a text, as times of layers alone add up (hone/jobs/allocation_latency.h)
};
std::string_view to_string(BudgetFigure figure);

struct AllocationBudget {
  BudgetFigure figure = BudgetFigure::average_bits;
  double most = 0;
  std::string text = {};  ///< "average_bits <= 5"
};

/// "average_bits<=5", "packed_bytes <= 4e6", "latency_ms<=1.2": one or two. Throws `UserError` for anything else, and for a figure that is
/// bounded twice.
std::vector<AllocationBudget> parse_budgets(const std::vector<std::string>& texts);

}  // namespace hone
