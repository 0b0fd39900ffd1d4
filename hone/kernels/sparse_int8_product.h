#pragma once

#include <cstdint>
#include <iterator>
#include <optional>

#include "hone/kernels/epilogue.h"
#include "hone/kernels/int8_rows.h"
#include "hone/kernels/sparse_int8_matrix.h"

/// Products of rounded activations with sparse weights of 8 or 4 bits, which skip zero blocks of 1x4. Results have the
/// bits of `int8_product` with the same weights in dense form and one scale per row.
///
///     // y(T,O) = x(T,I) W(O,I)^T + bias(O)
///     round_rows(pool, activations, {}, x);
///     sparse_int8_product(pool, x, {{O, I}, bytes, scales}, {.bias = bias}, y, O);
///
namespace hone::kernels {

/// W (N,K): value(code) = code · scale.
struct SparseInt8Weight {
  SparseInt8Matrix matrix;
  const std::uint8_t* bytes = nullptr;  ///< see sparse_int8_matrix.h, aligned to 4 bytes
  const float* scales = nullptr;        ///< (N)
};

/// Computes y[m * y_stride + n] = ((float) sum · scales[n]) x.scales[m] + bias[n] with two roundings, then applies
/// `epilogue`. Rows of `x` have one scale each.
void sparse_int8_product(ThreadPool& pool, const Int8Rows& x, const SparseInt8Weight& weight,
                         const Epilogue& epilogue, float* y, std::int64_t y_stride);

/// Computes the same and rounds it to `y` (M, N) with one scale per row, without storing the floats. The bits are those
/// of `round_rows` of the floats. `grid` must have a scale, and the epilogue must not accumulate.
void sparse_int8_product(ThreadPool& pool, const Int8Rows& x, const SparseInt8Weight& weight,
                         const Epilogue& epilogue, const Int8Grid& grid, const Int8Rows& y);

/// Largest share of nonzero blocks with which products of at least `rows` rows are faster than dense ones. Unused lanes
/// cost as much as used ones, so few rows need more zeros: measured with AVX2, AVX-512 and VNNI, one row is faster from
/// 89% of zeros on, 4 rows from 86%, 8 from 71% and 16 from 55%. A block with two entries counts once, as in the
/// sparsity that a user requests. Normal weights in 8 bits have 27%, 12% and 7% more entries than blocks at these
/// limits, where products with AVX2 are still 1.4× to 1.8× faster than dense ones.
struct SparseInt8Limit {
  std::int64_t rows = 1;
  double blocks = 0;
};
inline constexpr SparseInt8Limit kSparseInt8Limits[] = {{1, 0.1}, {8, 0.3}, {16, 0.5}};
/// Largest share of nonzero blocks for which sparse weights are worth preparing.
inline constexpr double kMaxSparseInt8Blocks = std::rbegin(kSparseInt8Limits)->blocks;
/// Returns the fewest rows for which products with these blocks are faster than dense ones, by `kSparseInt8Limits`;
/// nullopt if there are too many blocks.
std::optional<std::int64_t> fewest_sparse_int8_rows(const KeptBlocks& blocks);
/// Returns whether the product of `rows` rows is faster than a dense one.
bool sparse_int8_is_faster(std::int64_t rows, const KeptBlocks& blocks);

}  // namespace hone::kernels
