#pragma once

#include <cstdint>
#include <iterator>
#include <optional>

#include "hone/kernels/epilogue.h"
#include "hone/kernels/int8_rows.h"
#include "hone/kernels/sparse_int8_matrix.h"

/// Products of rounded activations with weights of 8 or 4 bits of which many blocks of 1x4 are zero and take no time: the bits
/// of `int8_product` with the same weights, all of them stored and a scale for every row.
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

/// y[m * y_stride + n] = ((float) sum · scales[n]) x.scales[m] + bias[n] with two roundings, through `epilogue`. Rows of `x`
/// have one scale each.
void sparse_int8_product(ThreadPool& pool, const Int8Rows& x, const SparseInt8Weight& weight,
                         const Epilogue& epilogue, float* y, std::int64_t y_stride);

/// The same, rounded at once to `y`, (M, N), with one scale per row: the bits of `round_rows` of the floats, which are written
/// nowhere. The scale of `grid` must be given and the epilogue must not accumulate.
void sparse_int8_product(ThreadPool& pool, const Int8Rows& x, const SparseInt8Weight& weight,
                         const Epilogue& epilogue, const Int8Grid& grid, const Int8Rows& y);

/// The share of the blocks up to which products of at least so many rows are faster than dense ones. Lanes that few rows leave empty
/// cost as much as others: measured with AVX2, AVX-512 and VNNI, one row pays from 89% of zeros on, 4 from 86%, 8 from 71% and 16
/// from 55%. A block that takes two entries counts once, as it does in the sparsity that a user asks for: normal weights in 8 bits have
/// 27%, 12% and 7% more entries than blocks at these limits, where products with AVX2 are still 1.4 to 1.8 times as fast as dense ones.
struct SparseInt8Limit {
  std::int64_t rows = 1;
  double blocks = 0;
};
inline constexpr SparseInt8Limit kSparseInt8Limits[] = {{1, 0.1}, {8, 0.3}, {16, 0.5}};
/// The share up to which preparing sparse weights pays.
inline constexpr double kMostSparseInt8Blocks = std::rbegin(kSparseInt8Limits)->blocks;
/// Rows from which on products with these blocks are faster than dense ones, by `kSparseInt8Limits`; nullopt if they are too many.
std::optional<std::int64_t> fewest_sparse_int8_rows(const KeptBlocks& blocks);
/// Whether the product of so many rows is.
bool sparse_int8_is_faster(std::int64_t rows, const KeptBlocks& blocks);

}  // namespace hone::kernels
