#include "hone/jobs/prune/shapes.h"

#include <algorithm>
#include <cmath>

#include "hone/models/transform.h"
#include "hone/passes/drop_layers.h"
#include "hone/study/unit_importance.h"
#include "hone/train/text_examples.h"

namespace hone {

const Fields& fields_of(const PrunedGroup*) {
  using P = PrunedGroup;
  static const Fields fields = describe<P>(
      "pruned_group", "Heads or neurons of one layer, or all layers.",
      field<&P::kind>("kind", "heads, neurons or layers.", "Kind"),
      field<&P::name>("name",
                      "The linear layer that reads them; of layers, the start of their names.",
                      "Layer"),
      field<&P::before>("before", "Number in the baseline.", "Baseline"),
      field<&P::after>("after", "Number that is kept.", "Kept"));
  return fields;
}

std::vector<UnitGroup> groups_of(const Graph& graph, const std::vector<UnitKind>& kinds) {
  std::vector<UnitGroup> groups;
  for (const UnitKind kind : kinds)
    for (UnitGroup& group : unit_groups(graph, kind)) groups.push_back(std::move(group));
  return groups;
}

PrunedGroup drop_share_of_layers(Model& model, double share, const Session& session) {
  const LayerStack stack = layer_stack(model.graph);
  const std::int64_t kept = std::max<std::int64_t>(
      1, stack.count - std::llround(share * static_cast<double>(stack.count)));
  if (kept < stack.count) transform(model, fmt::format("drop_layers(keep={})", kept), session);
  return {std::string(kLayers), stack.path, stack.count, kept};
}

UnitScores unit_scores(const std::string& method, const Model& model,
                       const std::vector<UnitKind>& kinds, const EncodedSet& texts,
                       const CalibrationRun& importance, Context& context) {
  // Parameters are copied on write, so this copy keeps the weights that determine the scores.
  if (method != "first_order")
    return [parameters = model.parameters, power = method == "l1" ? 1 : 2](const UnitGroup& group) {
      return unit_magnitudes(group, parameters, power);
    };
  return [scores = unit_importance(model, groups_of(model.graph, kinds), text_examples(texts),
                                   importance, context.session())](const UnitGroup& group) {
    return scores.at(group.reader->name());
  };
}

std::vector<PrunedGroup> prune_units(Model& model, const StructureOptions& options,
                                     const UnitScores& scores, Context& context) {
  std::vector<PrunedGroup> pruned;
  for (const UnitGroup& group : groups_of(model.graph, options.kinds))
    pruned.push_back({std::string(to_string(group.kind)), group.reader->name(), group.count, 0});
  change_model(
      model, "prune_structure",
      [&] { return prune_structure(model.graph, model.parameters, options, scores); },
      context.session(), prune_structure_text(options));
  for (const UnitGroup& group : groups_of(model.graph, options.kinds))
    std::ranges::find_if(pruned, [&](const PrunedGroup& one) {
      return one.name == group.reader->name() && one.kind == to_string(group.kind);
    })->after = group.count;
  return pruned;
}

}  // namespace hone
