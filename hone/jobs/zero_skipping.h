#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "hone/analysis/sparsity.h"
#include "hone/base/fields.h"
#include "hone/frontends/huggingface/model.h"
#include "hone/runtime/session.h"

/// Zeros in results, and the linear layers of a model whose kernels skip zeros in their weights.
namespace hone {

const Fields& fields_of(const Zeros*);
const Fields& fields_of(const LinearZeros*);

/// A sparsity from which on products on the CPU skip zeros.
struct SparsityThreshold {
  std::string products;       ///< "fp32", "native int"
  std::string pattern;        ///< of the zeros: "4x1", "1x4", or "weights"
  std::int64_t min_rows = 1;  ///< rows of the input: examples times tokens
  double sparsity = 0;        ///< share of the blocks, or of the weights, that must be zero
};
const Fields& fields_of(const SparsityThreshold*);
/// Returns the thresholds of the kernels by products and pattern; the highest number of rows first.
std::vector<SparsityThreshold> sparsity_thresholds();
/// Describes the thresholds of one kind of products: "50% of the blocks of 1x4 with 16 rows of input or more (70% with
/// 8, 90% with 1)".
std::string thresholds_text(std::string_view products);

/// Linear layers whose products skip zeros in one pattern.
struct SkippingLayers {
  std::string pattern;
  std::int64_t min_rows = 1;
  std::int64_t layers = 0;
  std::int64_t dense_bytes = 0, bytes = 0;  ///< of their weights, as products read them
};
/// Linear layers whose products multiply zeros like other numbers.
struct DenseLayers {
  std::string reason;
  std::int64_t layers = 0;
};
struct ZeroSkipping {
  std::int64_t linear_layers = 0;
  std::vector<SkippingLayers> skipping = {};
  std::vector<DenseLayers> dense = {};

  std::int64_t skipping_layers() const;
  /// Returns the bytes that products need not read.
  std::int64_t saved_bytes() const;
};
const Fields& fields_of(const SkippingLayers*);
const Fields& fields_of(const DenseLayers*);
const Fields& fields_of(const ZeroSkipping*);

/// Examines the layers of `model` as the session runs them. Reads all weights.
ZeroSkipping zero_skipping(const Model& model, const Session& session);

/// Returns "Products of 12 of 14 linear layers skip zeros: …", if any do, and "2 linear layers skip no zeros: …" for
/// each reason.
std::vector<std::string> lines_of(const ZeroSkipping& found);

}  // namespace hone
