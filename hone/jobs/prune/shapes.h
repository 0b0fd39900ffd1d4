#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hone/base/fields.h"
#include "hone/data/encoded_set.h"
#include "hone/frontends/huggingface/model.h"
#include "hone/passes/prune_structure.h"
#include "hone/runtime/context.h"
#include "hone/train/calibration.h"

/// Removal of heads, neurons and layers, chosen by weights or by texts.
namespace hone {

/// The number of units of a group, or of layers, before and after pruning.
struct PrunedGroup {
  std::string kind, name;
  std::int64_t before = 0, after = 0;
};
const Fields& fields_of(const PrunedGroup*);

/// The default method for scoring units.
inline constexpr std::string_view kDefaultUnitMethod = "first_order";

/// The structure name of layers, next to those of `UnitKind`.
inline constexpr std::string_view kLayers = "layers";

/// Returns the units of these kinds. Throws `UserError` as `unit_groups` does.
std::vector<UnitGroup> groups_of(const Graph& graph, const std::vector<UnitKind>& kinds);

/// Removes this share of the layers, rounded to the nearest number, evenly spaced. At least one layer stays.
PrunedGroup drop_share_of_layers(Model& model, double share, const Session& session);

/// Returns the scores of units by `StructureOptions::method`; "first_order" computes them on the calibration texts of
/// `importance`. They are valid for models derived from this one too, for groups with the same readers.
UnitScores unit_scores(const std::string& method, const Model& model,
                       const std::vector<UnitKind>& kinds, const EncodedSet& texts,
                       const CalibrationRun& importance, Context& context);

/// Removes units by these scores. Throws `UserError` as `prune_structure` does.
std::vector<PrunedGroup> prune_units(Model& model, const StructureOptions& options,
                                     const UnitScores& scores, Context& context);

}  // namespace hone
