#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hone/base/fields.h"
#include "hone/tensor/tensor.h"

/// Which elements of weights pruning keeps: a choice by numbers alone, no graph in sight.
namespace hone {

/// What is pruned first.
enum class PruneMethod : std::uint8_t {
  random,
  l1,  ///< the smallest magnitudes
  /// the smallest magnitudes times the norms of the inputs that they multiply; of a tensor the same share of each row, or row of
  /// blocks (Sun et al., arXiv 2306.11695, section 3)
  wanda,
  first_order,  ///< the smallest magnitudes times those of the gradients of the loss
  movement,     ///< the lowest scores, which training takes on (hone/train/training_graph.h)
  sparsegpt,    ///< those that the weights behind them make up for (hone/train/sparsegpt.h)
};

/// Whether it looks at examples before anything is pruned.
bool needs_examples(PruneMethod method);

/// Of what the sparsity is a share.
enum class PruneScope : std::uint8_t {
  local,   ///< of every tensor
  global,  ///< of all tensors together, under one threshold
};

/// How many go.
enum class PruneMode : std::uint8_t {
  exact,  ///< round(sparsity n) of n, as torch.nn.utils.prune; of equal ones those that come first
  mase,  ///< all with a magnitude up to the quantile of the magnitudes, as MASE: others than `exact`, more where many are equal
};

/// So many are kept of every so many that follow each other in a row.
struct KeptOf {
  std::int64_t kept = 2, of = 4;
  bool operator==(const KeptOf&) const = default;
};

/// What goes or stays together: so many neighbouring rows and columns. Products skip zeros in blocks of 4x1 (fp32) and 1x4 (int8)
/// at lower sparsities than single ones.
struct PruneBlock {
  std::int64_t rows = 1, columns = 1;
  bool is_single() const { return rows == 1 && columns == 1; }
  bool operator==(const PruneBlock&) const = default;
};

/// Which weights may go: single ones, blocks, or those that a pattern leaves.
struct PruneStructure {
  std::optional<KeptOf> pattern = {};  ///< then blocks are single weights
  PruneBlock block = {};
  bool operator==(const PruneStructure&) const = default;
};

struct PruneRule {
  double sparsity = 0.5;  ///< share that goes; of a pattern it is 1 - kept / of
  double reached = 1;     ///< share of what is to go that does; less while a schedule rises
  PruneMethod method = PruneMethod::l1;
  PruneScope scope = PruneScope::local;
  PruneMode mode = PruneMode::exact;
  PruneStructure structure = {};
  /// Of `random`: what is drawn for an element does not depend on the sparsity.
  std::uint64_t seed = 42;
};

std::span<const EnumWord> enum_words(PruneMethod);
std::span<const EnumWord> enum_words(PruneScope);
std::span<const EnumWord> enum_words(PruneMode);
PruneMethod parse_prune_method(std::string_view text);  ///< "random", "l1", "wanda", …
PruneScope parse_prune_scope(std::string_view text);    ///< "local", "global"
PruneMode parse_prune_mode(std::string_view text);      ///< "exact", "mase"
/// "weights", "2:4", "1x4". Throws `UserError` for anything else.
PruneStructure parse_structure(std::string_view text);
std::string_view to_string(PruneMethod method);
std::string_view to_string(PruneScope scope);
std::string_view to_string(PruneMode mode);
std::string structure_text(const PruneStructure& structure);
// As fields and options have it.
inline std::string field_text(const PruneStructure& structure) { return structure_text(structure); }
inline void read_field_text(const std::string& text, PruneStructure& structure) {
  structure = parse_structure(text);
}

/// A weight, fp32 and dense, in rows along its last axis.
struct PrunedTensor {
  std::string name;  ///< `random` draws by it
  Tensor values;
  /// bool, of the same shape: what is gone already stays so; undefined: nothing is
  Tensor kept_before = {};
  /// fp32, what examples or training say of the weights. What magnitudes are multiplied by: of `wanda` the norms of inputs, of
  /// the last axis; of `first_order` the magnitudes of gradients, of the shape of `values`. Of `movement` the scores themselves.
  Tensor statistics = {};
};

/// Throws `UserError` for a sparsity outside [0, 1], and for combinations that mean nothing.
void check(const PruneRule& rule);

/// Throws `UserError` where rows of the tensor are no multiple of the rule's pattern.
void check_rows(const PruneRule& rule, const PrunedTensor& tensor);

/// For each tensor which of its elements are kept, bool, of the same shape. What was gone before stays so, and counts among what
/// goes. Blocks are ranked by the mean score of their elements; those at the edges may be smaller. Where not all is `reached`, a
/// pattern takes the lowest scores of those that it takes in the end. Throws `UserError` as `check`, where rows are no multiple
/// of the pattern, for a method without its statistics, and for `sparsegpt`.
std::vector<Tensor> kept_elements(const PruneRule& rule, const std::vector<PrunedTensor>& tensors);

/// Clears `kept` for the `count` lowest scores, of equal ones those that come first, and sets it for all others.
void drop_lowest(std::span<const float> scores, std::int64_t count, std::span<bool> kept);

/// As torch.quantile of fp32 numbers with linear interpolation, computed in fp32. `values` must not be empty.
float linear_quantile(std::vector<float> values, double share);

/// How many elements are false.
std::int64_t pruned_count(const Tensor& kept);

}  // namespace hone
