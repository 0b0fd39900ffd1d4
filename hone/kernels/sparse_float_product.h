#pragma once

#include <cstdint>
#include <iterator>
#include <optional>

#include "hone/base/thread_pool.h"
#include "hone/kernels/epilogue.h"
#include "hone/kernels/kept_blocks.h"
#include "hone/kernels/sparse_float_matrix.h"
#include "hone/kernels/weight_only_product.h"

/// Products of float activations with sparse weights, which skip zeros.
///
///     // y(T,O) = x(T,I) W(O,I)^T + bias(O)
///     sparse_product(pool, {x, T, I}, {{O, I, 4, 32}, packed}, {.bias = bias}, y, O);
///
/// The sum of a block of K begins with zero and adds its entries, columns ascending, each with one fused multiply-add.
/// The sum of the first block and the bias are added (to C if the epilogue accumulates), then the sums of the other
/// blocks in order. So results have the same bits for any number of threads and rows, and on every CPU with fused
/// multiply-adds. If activations are finite, results equal those of `gemm` with the weights as floats, zeros included.
namespace hone::kernels {

struct SparseFloatWeight {
  SparseFloatMatrix matrix;
  /// From `sparse_arrange`, aligned to 4 bytes, or to a cache line for best speed.
  const std::uint8_t* packed = nullptr;
};

/// Computes y[m * y_stride + n] for all rows of `x` and applies `epilogue`, whose residual must not overlap y. The
/// calling thread keeps a buffer for panels of activations, as large as up to 960 rows of x; with more rows every
/// thread keeps a few hundred KiB.
void sparse_product(ThreadPool& pool, const FloatRows& x, const SparseFloatWeight& weight,
                    const Epilogue& epilogue, float* y, std::int64_t y_stride);

/// Largest shares of nonzero blocks of 4 x 1, and of nonzero single weights, with which products of at least `rows`
/// rows of activations are faster than dense ones. Measured with AVX2 and AVX-512, 16 rows are faster from 20% and 60%
/// of zeros on. With few rows, unused lanes cost as much as used ones, and dense products are bound by memory: one row
/// is faster from 50% and 75% of zeros on, and from 87% with fast memory.
struct SparseFloatLimit {
  std::int64_t rows = 1;
  double blocks = 0, single = 0;
};
inline constexpr SparseFloatLimit kSparseFloatLimits[] = {{1, 0.25, 0.125}, {16, 0.5, 0.25}};
/// Largest shares for which sparse weights are worth arranging.
inline constexpr double kMaxSparseFloatBlocks = std::rbegin(kSparseFloatLimits)->blocks,
                        kMaxSparseFloats = std::rbegin(kSparseFloatLimits)->single;

/// A layout of sparse weights and its number of entries.
struct CountedSparseFloats {
  SparseFloatMatrix matrix;
  std::int64_t entries = 0;

  KeptBlocks kept() const { return {entries, matrix.groups() * matrix.columns}; }
};
/// Returns the fewest rows for which products with `weight` are faster than dense ones, by `kSparseFloatLimits`;
/// nullopt if it has too many entries.
std::optional<std::int64_t> fewest_sparse_float_rows(const CountedSparseFloats& weight);
/// Returns the layout in which products of many rows with `dense` (N,K) are faster than dense ones, by these shares:
/// blocks of 4 x 1 or single weights; nullopt if none is.
std::optional<CountedSparseFloats> faster_sparse_matrix(ThreadPool& pool, std::int64_t rows,
                                                        std::int64_t columns, const float* dense);

}  // namespace hone::kernels
