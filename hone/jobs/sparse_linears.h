#pragma once

#include <optional>

#include "hone/formats/packing.h"
#include "hone/jobs/bench_linear.h"
#include "hone/passes/kept_elements.h"
#include "hone/runtime/kernel.h"
#include "hone/tensor/tensor.h"

/// Linears whose weight has zeros, by the kernels of the CPU that skip them: rows of the kernel table that take every such
/// weight, where hone's own take a weight only if that is faster.
namespace hone {

/// The zeros of a weight, and how its kernel reads it.
struct SparseWeight {
  double sparsity = 0;  ///< share of the blocks that are zero
  PruneBlock block = {};
  Tensor dense = {};       ///< fp32, (outputs, inputs), with its zeros, before it is rounded
  double stored = 1;       ///< share of the kernel's blocks that are not zero
  std::int64_t bytes = 0;  ///< with indices and scales
  /// Rows from which on hone uses its sparse kernel for such a weight; none: it never does.
  std::optional<std::int64_t> min_rows = {};
  Kernel kernel = {};

  /// Whether hone multiplies so many rows with such a weight by its sparse kernel.
  bool is_used(std::int64_t rows) const { return min_rows && rows >= *min_rows; }
};

/// The blocks that kernels skip at the lowest sparsity: 1x4 of codes, 4x1 of floats.
PruneBlock block_of_kernels(ProductWay way);

/// Whether there is a sparse kernel: of fp32, of weights in bf16 with inputs and results in fp32, and of native products with one
/// scale for each row of the weight. `format` is null for floats.
bool has_sparse_kernel(ProductWay way, const Format* format, const Sizes& sizes,
                       const FormatTable& formats);

/// Returns `weight` with the share `sparsity` of its blocks set to zero, those of the smallest mean magnitude.
Tensor with_zeros(const Tensor& weight, double sparsity, const PruneBlock& block);

/// A weight of floats. `dense`: see `SparseWeight`.
SparseWeight sparse_floats(ProductWay way, const Tensor& dense, ThreadPool& pool);
/// A weight in codes: `packed` are those of `input`, in panels.
SparseWeight sparse_codes(const QuantizerInput& input, const PackedCodes& packed, ThreadPool& pool);

}  // namespace hone
