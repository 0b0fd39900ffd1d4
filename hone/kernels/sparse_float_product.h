#pragma once

#include <cstdint>
#include <optional>

#include "hone/base/thread_pool.h"
#include "hone/kernels/epilogue.h"
#include "hone/kernels/sparse_float_matrix.h"
#include "hone/kernels/weight_only_product.h"

/// Products of float activations with sparse weights: only what was kept is multiplied.
///
///     // y(T,O) = x(T,I) W(O,I)^T + bias(O)
///     sparse_product(pool, {x, T, I}, {{O, I, 4, 32}, packed}, {.bias = bias}, y, O);
///
/// A sum begins with zero and takes the entries of one block of K after the other, columns ascending, each with one fused
/// multiply-add. The first block's sum and the bias are added, to C where the epilogue accumulates, and then the sums of the
/// other blocks in order. So results have the same bits for any number of threads and of rows and on every processor that fuses
/// multiplications and additions; and where activations are finite they equal those of `gemm` with the weights as floats, zeros
/// included.
namespace hone::kernels {

struct SparseFloatWeight {
  SparseFloatMatrix matrix;
  /// Made by `sparse_arrange`, aligned to 4 bytes, and to a line of the cache for best speed.
  const std::uint8_t* packed = nullptr;
};

/// y[m * y_stride + n] for all rows of `x`, through `epilogue`, whose residual must not overlap y. The calling thread keeps
/// memory for panels of activations: as much as x of up to 960 rows; with more rows every thread keeps a few hundred KiB.
void sparse_product(ThreadPool& pool, const FloatRows& x, const SparseFloatWeight& weight,
                    const Epilogue& epilogue, float* y, std::int64_t y_stride);

/// Returns the layout in which products with `dense` (N,K) are faster than dense ones, or none: blocks of 4 x 1 if at most half
/// of them are kept, or single weights if at most a quarter is. Measured with AVX2 and AVX-512, from 20% and 60% of zeros on
/// with 16 rows of activations or more, and from 50% and 75% on with one.
std::optional<SparseFloatMatrix> faster_sparse_matrix(ThreadPool& pool, std::int64_t rows,
                                                      std::int64_t columns, const float* dense);

}  // namespace hone::kernels
