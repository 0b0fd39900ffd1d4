#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hone/base/fields.h"
#include "hone/formats/plan.h"
#include "hone/passes/layer_sparsity.h"

/// What layers may take, and what all of them together may cost, as people write it.
namespace hone {

/// A format for operands of a layer, or full precision, and a share of its weights that goes first.
struct LayerOption {
  std::string text;                          ///< the format as it was written; "none"
  std::optional<LayerFormats> formats = {};  ///< none: full precision
  LayerSparsity sparsity = {};               ///< of the smallest magnitudes

  std::string label() const;  ///< "int(bits=8), 50% pruned in blocks of 1x4"
};

/// What layers read.
inline constexpr Operand kReadOperands[] = {Operand::input, Operand::weight, Operand::bias};

/// By their names, of those that layers read; the weight, whose bits budgets are of, is among them. Throws `UserError`.
std::vector<Operand> parse_operands(const std::vector<std::string>& names);

/// "int(bits=8),mxint(bits=4),none", for these operands: at least two, by commas outside of parentheses. Throws `UserError` for what is no format, one that
/// stands twice, and a list with nothing to choose from.
std::vector<LayerOption> parse_format_options(std::string_view text,
                                              const std::vector<Operand>& operands,
                                              const FormatTable& formats);

/// How people write what layers may lose: shares, each in all of these structures ("weights", "1x4").
struct SparsityTexts {
  std::vector<double> shares = {};
  std::vector<std::string> structures = {"weights"};
};
/// Each share in each structure. Throws `UserError` for shares outside of (0, 1), one that stands twice, structures as
/// `parse_layer_structure`, and those without a share.
std::vector<LayerSparsity> parse_sparsities(const SparsityTexts& texts);

/// The same of a list, with these sparsities; both may be empty, not both at once. Throws `UserError` as the others.
std::vector<LayerOption> parse_options(const std::vector<std::string>& texts,
                                       const SparsityTexts& sparsities,
                                       const std::vector<Operand>& operands,
                                       const FormatTable& formats);

/// All options as they are, then all of them pruned by the first of these, and so on; of no options full precision.
std::vector<LayerOption> with_sparsities(std::vector<LayerOption> options,
                                         const std::vector<LayerSparsity>& sparsities);
/// Whether any of them prunes.
bool prunes(const std::vector<LayerOption>& options);

/// What a budget bounds: the figures of that name that searches have too.
enum class BudgetFigure : std::uint8_t {
  average_bits,  ///< of a weight of the layers that are allocated, what blocks and rows share included
  packed_bytes,  ///< of all weights of the model, each in its format
  latency_ms,  ///< of a text, as times of layers alone add up (hone/jobs/allocation/allocation_latency.h)
};
std::span<const EnumWord> enum_words(BudgetFigure);
inline std::string_view to_string(BudgetFigure figure) { return word_of(figure); }

struct AllocationBudget {
  BudgetFigure figure = BudgetFigure::average_bits;
  double most = 0;
  std::string text = {};  ///< "average_bits <= 5"
};
const Fields& fields_of(const AllocationBudget*);

/// What is allocated, and within what.
struct AllocationRequest {
  std::vector<LayerOption> options = {};       ///< at least two
  std::vector<AllocationBudget> budgets = {};  ///< one to three, of different figures
  std::vector<std::string> together = {};  ///< globs: linears that one names take the same option
  std::int64_t sensitivity_samples = 128;  ///< texts that layers alone are measured on; 0: all
};

/// What decides on what is chosen, for what it is known by.
Json spelled(const AllocationRequest& request);

/// "average_bits<=5", "packed_bytes <= 4e6", "latency_ms<=1.2": one of each at most. Throws `UserError` for anything else, and for a figure that is
/// bounded twice.
std::vector<AllocationBudget> parse_budgets(const std::vector<std::string>& texts);

}  // namespace hone
