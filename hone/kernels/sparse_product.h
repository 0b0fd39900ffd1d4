#pragma once

#include <cstdint>

#include "hone/kernels/epilogue.h"
#include "hone/kernels/int8_rows.h"
#include "hone/kernels/sparse_matrix.h"

/// Products of rounded activations with weights of 8 or 4 bits of which many blocks of 1x4 are zero and take no time: the bits
/// of `int8_product` with the same weights, all of them stored and a scale for every row.
///
///     // y(T,O) = x(T,I) W(O,I)^T + bias(O)
///     round_rows(pool, activations, {}, x);
///     sparse_int8_product(pool, x, {{O, I}, bytes, scales}, {.bias = bias}, y, O);
///
/// From 16 or so rows on a product takes a share of the dense one's time that is near the share of blocks stored.
namespace hone::kernels {

/// W (N,K): value(code) = code · scale.
struct SparseInt8Weight {
  SparseMatrix matrix;
  const std::uint8_t* bytes = nullptr;  ///< see sparse_matrix.h, aligned to 4 bytes
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

}  // namespace hone::kernels
