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

/// Whole parts of a model that go, chosen by weights or by texts.
namespace hone {

/// What became of the units of a group, or of the layers.
struct PrunedGroup {
  std::string kind, name;
  std::int64_t before = 0, after = 0;
};
const Fields& fields_of(const PrunedGroup*);

/// How units are scored where nobody says.
inline constexpr std::string_view kUsualUnitMethod = "first_order";

/// The kind of layers, beside those of units.
inline constexpr std::string_view kLayers = "layers";

/// The units of these kinds. Throws `UserError` as `unit_groups` does.
std::vector<UnitGroup> groups_of(const Graph& graph, const std::vector<UnitKind>& kinds);

/// This share of the layers goes, to the nearest number; one stays at least, and those that stay lie evenly between.
PrunedGroup drop_share_of_layers(Model& model, double share, const Session& session);

/// What `StructureOptions::method` says of the units of these kinds; by "first_order" on those of `texts` that `importance` looks at. It
/// holds for groups of the same readers in models that were made of this one.
UnitScores unit_scores(const std::string& method, const Model& model,
                       const std::vector<UnitKind>& kinds, const EncodedSet& texts,
                       const CalibrationRun& importance, Context& context);

/// Units go as `options` say, by these scores. Throws `UserError` as `prune_structure` does.
std::vector<PrunedGroup> prune_units(Model& model, const StructureOptions& options,
                                     const UnitScores& scores, Context& context);

}  // namespace hone
