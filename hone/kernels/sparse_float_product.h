#pragma once

#include <cstdint>
#include <iterator>
#include <optional>

#include "hone/base/thread_pool.h"
#include "hone/kernels/epilogue.h"
#include "hone/kernels/kept_blocks.h"
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

/// Shares of the blocks of 4 x 1, and of single weights, up to which products of at least so many rows of activations are faster
/// than dense ones. Measured with AVX2 and AVX-512, 16 rows pay from 20% and 60% of zeros on. Lanes that few rows leave empty cost
/// as much as others, and a dense product then takes as long as memory does: one row pays from 50% and 75% of zeros on, and from
/// 87% where memory is fast.
struct SparseFloatLimit {
  std::int64_t rows = 1;
  double blocks = 0, single = 0;
};
inline constexpr SparseFloatLimit kSparseFloatLimits[] = {{1, 0.25, 0.125}, {16, 0.5, 0.25}};
/// Shares up to which arranging sparse weights pays.
inline constexpr double kMostSparseFloatBlocks = std::rbegin(kSparseFloatLimits)->blocks,
                        kMostSparseFloats = std::rbegin(kSparseFloatLimits)->single;

/// A layout of sparse weights, and how many entries it has.
struct CountedSparseFloats {
  SparseFloatMatrix matrix;
  std::int64_t entries = 0;

  KeptBlocks kept() const { return {entries, matrix.groups() * matrix.columns}; }
};
/// Rows from which on products with it are faster than dense ones, by `kSparseFloatLimits`; nullopt if too many are stored.
std::optional<std::int64_t> fewest_sparse_float_rows(const CountedSparseFloats& weight);
/// Returns the layout in which products of many rows with `dense` (N,K) are faster than dense ones, or none: blocks of 4 x 1 or single
/// weights, by these shares.
std::optional<CountedSparseFloats> faster_sparse_matrix(ThreadPool& pool, std::int64_t rows,
                                                        std::int64_t columns, const float* dense);

}  // namespace hone::kernels
