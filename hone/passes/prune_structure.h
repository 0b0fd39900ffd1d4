#pragma once

#include <functional>
#include <string>
#include <vector>

#include "hone/passes/pass.h"
#include "hone/passes/units.h"

namespace hone {

/// Which units go.
struct StructureOptions {
  std::vector<UnitKind> kinds = {UnitKind::heads, UnitKind::neurons};
  double sparsity = 0.5;  ///< share of the units of each kind
  /// What units are chosen by: "l1" and "l2", their weights (`unit_magnitudes`); "first_order", what the loss says of them on
  /// texts (study/unit_importance.h).
  std::string method = "l1";
  UnitScope scope = UnitScope::local;
  std::vector<std::string> freeze = {};  ///< globs: units of linears that one names stay
};

/// Whether a glob names one of the linears that units of the group are parts of.
bool is_named(const UnitGroup& group, const std::vector<std::string>& globs);

/// The scores of a group, one for each unit.
using UnitScores = std::function<std::vector<double>(const UnitGroup&)>;

/// Lets the units of least score go; all kinds are scored before any goes. Throws `UserError` where there are none of a kind,
/// for a model with adapters or unlike weights (see `unit_groups`), and for another sparsity than `choose_units` takes.
/// Returns whether the graph changed.
bool prune_structure(Graph& graph, ParameterStore& parameters, const StructureOptions& options,
                     const UnitScores& scores);

/// Its record: by weights alone, for a pass reads no texts.
PassDef prune_structure_pass();

/// The options as its record has them, and back. Throws `UserError` for words that are none.
StructureOptions structure_options(const Attributes& options);
std::string prune_structure_text(const StructureOptions& options);

}  // namespace hone
