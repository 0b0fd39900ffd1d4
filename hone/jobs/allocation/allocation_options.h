#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hone/base/fields.h"
#include "hone/formats/plan.h"
#include "hone/passes/layer_sparsity.h"

/// Parsers for the options that layers can take and for the budgets on all of them.
namespace hone {

/// A format for operands of a layer, or full precision, and a share of its weights that is pruned first.
struct LayerOption {
  std::string text;                          ///< the format as the user wrote it; "none"
  std::optional<LayerFormats> formats = {};  ///< none: full precision
  LayerSparsity sparsity = {};               ///< prunes the smallest magnitudes

  std::string label() const;  ///< "int(bits=8), 50% pruned in blocks of 1x4"
};

inline constexpr Operand kReadOperands[] = {Operand::input, Operand::weight, Operand::bias};

/// Parses names of operands from `kReadOperands`. Throws `UserError` for other names, and if `weight` is missing.
std::vector<Operand> parse_operands(const std::vector<std::string>& names);

/// Parses options for these operands, such as "int(bits=8),mxint(bits=4),none": at least two, separated by commas
/// outside of parentheses. Throws `UserError` for an invalid format, a duplicate, and a list without a choice.
std::vector<LayerOption> parse_format_options(std::string_view text,
                                              const std::vector<Operand>& operands,
                                              const FormatTable& formats);

/// Sparsities as the user wrote them: shares, each in all of these structures ("weights", "1x4").
struct SparsityTexts {
  std::vector<double> shares = {};
  std::vector<std::string> structures = {"weights"};
};
/// Returns each share in each structure. Throws `UserError` for shares outside of (0, 1), duplicates, structures
/// without a share, and as `parse_layer_structure` does.
std::vector<LayerSparsity> parse_sparsities(const SparsityTexts& texts);

/// Combines formats and sparsities, which may not both be empty. Throws `UserError` as the parsers of the two do.
std::vector<LayerOption> parse_options(const std::vector<std::string>& texts,
                                       const SparsityTexts& sparsities,
                                       const std::vector<Operand>& operands,
                                       const FormatTable& formats);

/// Returns all options, or full precision if there are none, then all pruned by the first sparsity, and so on.
std::vector<LayerOption> with_sparsities(std::vector<LayerOption> options,
                                         const std::vector<LayerSparsity>& sparsities);
bool prunes(const std::vector<LayerOption>& options);

/// The quantity that a budget limits; searches have metrics of the same names.
enum class BudgetQuantity : std::uint8_t {
  average_bits,  ///< per weight of the allocated layers, scales that blocks and rows share included
  packed_bytes,  ///< of all weights of the model, each in its format
  latency_ms,  ///< per text, the sum over separately timed layers (hone/jobs/allocation/allocation_latency.h)
};
std::span<const EnumName> enum_names(BudgetQuantity);
inline std::string_view to_string(BudgetQuantity quantity) { return enum_name(quantity); }

struct AllocationBudget {
  BudgetQuantity quantity = BudgetQuantity::average_bits;
  double limit = 0;
  std::string text = {};  ///< "average_bits <= 5"
};
const Fields& fields_of(const AllocationBudget*);

/// The options to choose from, the budgets, and how to measure.
struct AllocationRequest {
  std::vector<LayerOption> options = {};       ///< at least two
  std::vector<AllocationBudget> budgets = {};  ///< one to three, on different quantities
  std::vector<std::string> tied =
      {};  ///< globs; all linears that one glob matches take the same option
  std::int64_t sensitivity_samples = 128;  ///< texts on which single layers are measured; 0: all
};

/// Returns everything that affects the choice, for cache keys.
Json request_json(const AllocationRequest& request);

/// Parses budgets such as "average_bits<=5", "packed_bytes <= 4e6" or "latency_ms<=1.2". Throws `UserError` for
/// anything else, and for two budgets on one quantity.
std::vector<AllocationBudget> parse_budgets(const std::vector<std::string>& texts);

}  // namespace hone
