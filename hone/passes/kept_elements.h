#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hone/base/fields.h"
#include "hone/tensor/tensor.h"

/// Chooses which elements of weights pruning keeps, from tensors alone, without a graph.
namespace hone {

/// Criterion by which elements are removed.
enum class PruneMethod : std::uint8_t {
  random,
  l1,  ///< the smallest magnitudes
  /// the smallest magnitudes times the norms of the inputs that they multiply; the same share of each row of a
  /// tensor, or row of blocks (Sun et al., arXiv 2306.11695, section 3)
  wanda,
  first_order,  ///< the smallest magnitudes times those of the gradients of the loss
  movement,     ///< the lowest scores, learned in training (hone/train/training_graph.h)
  sparsegpt,    ///< those that later weights compensate best (hone/train/sparsegpt.h)
};

/// Returns whether a method needs examples before it prunes.
bool needs_examples(PruneMethod method);

/// Set of weights that the sparsity applies to.
enum class PruneScope : std::uint8_t {
  local,   ///< each tensor
  global,  ///< all tensors together, under one threshold
};

/// How the number of removed weights is computed.
enum class PruneMode : std::uint8_t {
  exact,  ///< round(sparsity n) of n, as torch.nn.utils.prune; ties in order
  mase,  ///< all magnitudes up to their quantile, as MASE; removes more than `exact` with many ties
};

/// Keeps `kept` of every `of` consecutive weights of a row.
struct NOfM {
  std::int64_t kept = 2, of = 4;
  bool operator==(const NOfM&) const = default;
};

/// Neighbouring rows and columns that are removed together. Products skip zeros in blocks of 4x1 (fp32) and 1x4
/// (int8) at lower sparsities than single ones.
struct PruneBlock {
  std::int64_t rows = 1, columns = 1;
  bool is_single() const { return rows == 1 && columns == 1; }
  bool operator==(const PruneBlock&) const = default;
};

/// Structure of removed weights: single weights, blocks, or a pattern.
struct PruneStructure {
  std::optional<NOfM> pattern = {};  ///< if set, blocks are single weights
  PruneBlock block = {};
  bool operator==(const PruneStructure&) const = default;
};

struct PruneRule {
  double sparsity = 0.5;  ///< share to remove; 1 - kept / of for a pattern
  double reached = 1;     ///< share of the removals made so far; below 1 while a schedule rises
  PruneMethod method = PruneMethod::l1;
  PruneScope scope = PruneScope::local;
  PruneMode mode = PruneMode::exact;
  PruneStructure structure = {};
  /// For `random`: the number drawn for an element does not depend on the sparsity.
  std::uint64_t seed = 42;
};

std::span<const EnumName> enum_names(PruneMethod);
std::span<const EnumName> enum_names(PruneScope);
std::span<const EnumName> enum_names(PruneMode);
PruneMethod parse_prune_method(std::string_view text);  ///< "random", "l1", "wanda", …
PruneScope parse_prune_scope(std::string_view text);    ///< "local", "global"
PruneMode parse_prune_mode(std::string_view text);      ///< "exact", "mase"
/// "weights", "2:4", "1x4". Throws `UserError` for anything else.
PruneStructure parse_structure(std::string_view text);
std::string_view to_string(PruneMethod method);
std::string_view to_string(PruneScope scope);
std::string_view to_string(PruneMode mode);
std::string structure_text(const PruneStructure& structure);
// Conversions for fields and options.
inline std::string field_text(const PruneStructure& structure) { return structure_text(structure); }
inline void read_field_text(const std::string& text, PruneStructure& structure) {
  structure = parse_structure(text);
}

/// A weight, fp32 and dense, in rows along its last axis.
struct PrunedTensor {
  std::string name;  ///< selects the random numbers of `random`
  Tensor values;
  /// bool, of the same shape: false elements were removed before and stay removed; undefined: none were
  Tensor kept_before = {};
  /// fp32, from examples or training. Factors of magnitudes: for `wanda` the norms of inputs, along the last axis;
  /// for `first_order` the magnitudes of gradients, in the shape of `values`. For `movement`, the scores themselves.
  Tensor statistics = {};
};

/// Throws `UserError` for a sparsity outside [0, 1], and for invalid combinations.
void check(const PruneRule& rule);

/// Throws `UserError` if rows of the tensor are no multiple of the rule's pattern.
void check_rows(const PruneRule& rule, const PrunedTensor& tensor);

/// Returns for each tensor which of its elements are kept, bool, of the same shape. Elements removed before stay
/// removed, and count as removed. Blocks are ranked by the mean score of their elements; those at the edges may be
/// smaller. If `reached` is below 1, a pattern removes the lowest scores among those that it removes in the end.
/// Throws `UserError` as `check`, if rows are no multiple of the pattern, for a method without its statistics, and
/// for `sparsegpt`.
std::vector<Tensor> kept_elements(const PruneRule& rule, const std::vector<PrunedTensor>& tensors);

/// Clears `kept` for the `count` lowest scores, the first ones among equals, and sets it for all others.
void drop_lowest(std::span<const float> scores, std::int64_t count, std::span<bool> kept);

/// Returns the same as torch.quantile of fp32 numbers with linear interpolation, computed in fp32. `values` must not
/// be empty.
float linear_quantile(std::vector<float> values, double share);

/// Returns the number of false elements.
std::int64_t pruned_count(const Tensor& kept);

}  // namespace hone
