#pragma once

#include <optional>

#include "hone/formats/packing.h"
#include "hone/jobs/bench_linear.h"
#include "hone/passes/kept_elements.h"
#include "hone/runtime/kernel.h"
#include "hone/tensor/tensor.h"

/// Linears whose weight has zeros, on CPU kernels that skip them. Unlike hone's own kernels, which accept a weight only
/// if that is faster, these accept every such weight.
namespace hone {

/// The zeros of a weight, and the kernel for them.
struct SparseWeight {
  double sparsity = 0;  ///< share of the blocks that are zero
  PruneBlock block = {};
  Tensor dense = {};       ///< fp32, (outputs, inputs), with the zeros, before rounding
  double stored = 1;       ///< share of the kernel's blocks that are nonzero
  std::int64_t bytes = 0;  ///< with indices and scales
  /// Number of rows from which on hone uses its sparse kernel for such a weight; empty: never.
  std::optional<std::int64_t> min_rows = {};
  Kernel kernel = {};

  /// Returns whether hone multiplies this many rows by its sparse kernel.
  bool is_used(std::int64_t rows) const { return min_rows && rows >= *min_rows; }
};

/// Returns the blocks that kernels skip at the lowest sparsity: 1x4 for codes, 4x1 for floats.
PruneBlock default_sparse_block(LinearImplementation implementation);

/// Returns whether there is a sparse kernel: for fp32, for weights in bf16 with inputs and results in fp32, and for
/// native products with one scale per row of the weight. `format` is null for floats.
bool has_sparse_kernel(LinearImplementation implementation, const Format* format,
                       const Sizes& sizes, const FormatTable& formats);

/// Returns `weight` with the share `sparsity` of its blocks set to zero, those with the smallest mean magnitude.
Tensor with_zeros(const Tensor& weight, double sparsity, const PruneBlock& block);

/// Makes a weight of floats. `dense`: see `SparseWeight`.
SparseWeight sparse_floats(LinearImplementation implementation, const Tensor& dense,
                           ThreadPool& pool);
/// Makes a weight in codes: `packed` are those of `input`, in panels.
SparseWeight sparse_codes(const QuantizerInput& input, const PackedCodes& packed, ThreadPool& pool);

}  // namespace hone
