#include "hone/frontends/huggingface/missing_head.h"

#include <algorithm>

#include "hone/frontends/huggingface/architecture.h"
#include "hone/frontends/huggingface/checkpoint.h"
#include "hone/frontends/huggingface/weight_matcher.h"

namespace hone {

MissingHead missing_head(const Model& model, const fs::path& folder) {
  const Architecture& architecture = find_architecture(model.facts.architecture, "a model");
  const Checkpoint checkpoint = load_checkpoint(folder);
  const std::string source = (folder / checkpoint.source).string();
  WeightMatcher weights(architecture, checkpoint.tensors, source, "config.json");
  for (const Node* parameter : model.graph.of_kind(NodeKind::parameter))
    weights.mark_used(*parameter);
  const std::vector<std::string> others = weights.unused();
  const std::string classes = fmt::format("{}.", architecture.head.classes);
  const auto drawn_classes =
      std::ranges::count_if(model.untrained_head_parameters,
                            [&](const std::string& name) { return name.starts_with(classes); });
  return {.is_half = drawn_classes < 2,
          .text = fmt::format("{} has no {}{}", source, list_some(model.untrained_head_parameters),
                              others.empty() ? "" : "; it has the tensors " + list_some(others))};
}

}  // namespace hone
