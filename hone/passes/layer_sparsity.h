#pragma once

#include <string>
#include <utility>
#include <vector>

#include "hone/base/json.h"
#include "hone/passes/prune.h"

namespace hone {

/// What pruning takes of the weights of one layer: a share of them, the smallest, single ones or blocks.
struct LayerSparsity {
  double share = 0;
  PruneStructure structure = {};  ///< no pattern such as 2:4, which sets the share itself

  bool operator==(const LayerSparsity&) const = default;
};

/// By the names of operations.
using LayerSparsities = std::vector<std::pair<std::string, LayerSparsity>>;

/// "weights", or blocks such as "1x4". Throws `UserError` for anything else, patterns too.
PruneStructure parse_layer_structure(std::string_view text);

/// "50.0% pruned", "80.0% pruned in blocks of 1x4".
std::string to_text(const LayerSparsity& sparsity);

/// Of single weights the share; of blocks {"sparsity": 0.8, "structure": "1x4"}.
Json to_json(const LayerSparsity& sparsity);
LayerSparsity layer_sparsity_from(const Json& json);

/// How the weight of one layer is pruned by its magnitudes.
PruneOptions prune_options(const std::string& layer, const LayerSparsity& sparsity);

/// Bits of an element of a weight whose elements take `bits` each: those of the elements that stay, and one for each block, which
/// says whether it stays.
double sparse_bits(double bits, const LayerSparsity& sparsity);

}  // namespace hone
