#include "hone/passes/layer_sparsity.h"

#include "hone/base/percentage.h"

namespace hone {

PruneStructure parse_layer_structure(std::string_view text) {
  const PruneStructure structure = parse_structure(text);
  user_check(!structure.pattern,
             "structure {} fixes how many weights to remove, but here every layer has its "
             "own sparsity; use weights, or blocks such as 1x4",
             text);
  return structure;
}

std::string to_text(const LayerSparsity& sparsity) {
  const std::string pruned = share_text(sparsity.share) + " pruned";
  return sparsity.structure.block.is_single()
             ? pruned
             : fmt::format("{} in blocks of {}", pruned, structure_text(sparsity.structure));
}

Json to_json(const LayerSparsity& sparsity) {
  if (sparsity.structure.block.is_single()) return sparsity.share;
  return {{"sparsity", sparsity.share}, {"structure", structure_text(sparsity.structure)}};
}

LayerSparsity layer_sparsity_from(const Json& json) {
  if (json.is_number()) return {.share = json.get<double>()};
  return {.share = json.at("sparsity").get<double>(),
          .structure = parse_structure(json.at("structure").get<std::string>())};
}

PruneOptions prune_options(const std::string& layer, const LayerSparsity& sparsity) {
  return {.target = {layer}, .rule = {.sparsity = sparsity.share, .structure = sparsity.structure}};
}

double sparse_bits(double bits, const LayerSparsity& sparsity) {
  if (sparsity.share == 0) return bits;
  const PruneBlock& block = sparsity.structure.block;
  return (1 - sparsity.share) * bits + 1 / static_cast<double>(block.rows * block.columns);
}

}  // namespace hone
