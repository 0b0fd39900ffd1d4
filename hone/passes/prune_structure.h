#pragma once

#include <functional>
#include <string>
#include <vector>

#include "hone/passes/pass.h"
#include "hone/passes/units.h"

namespace hone {

struct StructureOptions {
  std::vector<UnitKind> kinds = {UnitKind::heads, UnitKind::neurons};
  double sparsity = 0.5;  ///< share of the units of each kind
  /// Criterion: "l1" or "l2", by weights (`unit_magnitudes`); "first_order", by the gradients of the loss on examples
  /// (study/unit_importance.h).
  std::string method = "l1";
  UnitScope scope = UnitScope::local;
  std::vector<std::string> freeze = {};  ///< globs of linears whose units are kept
};

/// Returns whether a glob matches one of the linears of the group.
bool is_named(const UnitGroup& group, const std::vector<std::string>& globs);

/// Returns the scores of a group, one per unit.
using UnitScores = std::function<std::vector<double>(const UnitGroup&)>;

/// Removes the units with the lowest scores; all kinds are scored before any unit is removed. Throws `UserError` if
/// there are no units of a kind, for a model with adapters or unsupported weights (see `unit_groups`), and for a
/// sparsity that `choose_units` rejects. Returns whether the graph changed.
bool prune_structure(Graph& graph, ParameterStore& parameters, const StructureOptions& options,
                     const UnitScores& scores);

/// Returns the record, with criteria of weights only, since a pass reads no examples.
PassDef prune_structure_pass();

/// Convert the options from and to the form of the record. Throws `UserError` for invalid values.
StructureOptions structure_options(const Attributes& options);
std::string prune_structure_text(const StructureOptions& options);

}  // namespace hone
