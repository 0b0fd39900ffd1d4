#pragma once

#include <cstdint>

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

/// Blocks stored, of all that W has, up to which preparing sparse weights pays.
inline constexpr double kMostSparseInt8Blocks = 0.5;
/// Whether the product of so many rows is faster than the dense one where this share of the blocks is stored. Lanes that few
/// rows leave empty cost as much as others: measured with AVX2, AVX-512 and VNNI, one row pays from 89% of zeros on, 4 from 86%,
/// 8 from 71% and 16 from 55%.
bool sparse_int8_is_faster(std::int64_t rows, double stored);

}  // namespace hone::kernels
