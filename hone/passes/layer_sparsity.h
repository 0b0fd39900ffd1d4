#pragma once

#include <string>
#include <utility>
#include <vector>

#include "hone/base/json.h"
#include "hone/passes/prune.h"

namespace hone {

/// Sparsity of the weights of one layer: the share of single weights or blocks to remove, the smallest first.
struct LayerSparsity {
  double share = 0;
  PruneStructure structure = {};  ///< no pattern such as 2:4, which determines the share

  bool operator==(const LayerSparsity&) const = default;
};

/// Sparsities by the names of operations.
using LayerSparsities = std::vector<std::pair<std::string, LayerSparsity>>;

/// Parses "weights", or blocks such as "1x4". Throws `UserError` for anything else, including patterns.
PruneStructure parse_layer_structure(std::string_view text);

/// Returns "50.0% pruned", "80.0% pruned in blocks of 1x4".
std::string to_text(const LayerSparsity& sparsity);

/// Returns the share for single weights; {"sparsity": 0.8, "structure": "1x4"} for blocks.
Json to_json(const LayerSparsity& sparsity);
LayerSparsity layer_sparsity_from(const Json& json);

/// Returns the options that prune the weight of one layer by magnitude.
PruneOptions prune_options(const std::string& layer, const LayerSparsity& sparsity);

/// Returns the bits per element of a sparse weight whose elements take `bits` each: those of the kept elements, and
/// one per block that marks whether it is kept.
double sparse_bits(double bits, const LayerSparsity& sparsity);

}  // namespace hone
