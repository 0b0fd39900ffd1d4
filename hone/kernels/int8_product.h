#pragma once

#include <array>
#include <cstdint>

#include "hone/kernels/epilogue.h"
#include "hone/kernels/int8_rows.h"

/// Products of rounded activations with packed weights of 1 to 8 bits, summed as integers. Weights of 8, 4, 2 and 1
/// bits are read in place; others are unpacked panel by panel.
///
///     // y(T,O) = x(T,I) W(O,I)^T + bias(O), with the values of MXINT8 on both sides
///     round_rows_in_blocks(pool, activations, {.bits = 8}, x);
///     int8_product(pool, x, {O, I, 8, packed, {}, nullptr, scales, 0x1p-6f}, {.bias = bias}, y, O);
///
/// With float16 block scales, these replace 2^(weight scale - 127) below, and zero points are subtracted from the codes
/// of a block first. Terms are then rounded once, together with the addition.
///
/// Sums over a block (or over K where weights have a scale per row) are exact. With scales per block, blocks are summed
/// in float, in order: with 2^d from `Int8Rows`,
///
///     total = (…(t_0 + t_1) + …),   t_b = (sum of block b) 2^d_b 2^(weight scale - 127),
///
/// every term exact and every addition rounded once, and y = (total unit) scales[m] + bias[n] with one more rounding.
/// With a scale per row y = ((float) sum · weight scale) scales[m] + bias[n], the last two by a fused multiply-add. So
/// a result does not depend on how the matrices are split: the bits are the same for any number of threads and rows,
/// and on every CPU with fused multiply-adds (on all others too if all scales are powers of two and no term leaves the
/// range of normal floats).
namespace hone::kernels {

/// W (N,K): value(code) = (values[code] - 128) · scale for codes of up to 4 bits, and
/// (code - 2^(bits-1)) · scale for wider ones.
struct Int8Weight {
  std::int64_t rows = 0;     ///< N
  std::int64_t columns = 0;  ///< K
  int bits = 8;              ///< per code, 1 to 8
  /// In panels (see packed_matrix.h), aligned to a cache line for best speed.
  const std::uint8_t* codes = nullptr;
  /// Values of codes of up to 4 bits, plus 128. Default: integers of 4 bits in offset binary.
  std::array<std::uint8_t, 16> values = {120, 121, 122, 123, 124, 125, 126, 127,
                                         128, 129, 130, 131, 132, 133, 134, 135};
  /// One scale per row (N), or one byte e per row and block, in panels, for the scale 2^(e-127) · `unit`. With e = 0 a
  /// block is zero; with e = 255 results are infinite or NaN.
  ///
  /// With `scale_bytes` = 2 a scale is a float16 times `unit`. With 3, the third byte is an integer zero point,
  /// relative to the value of the code 0, which is subtracted from the values of codes. Within a block of a panel, all
  /// first bytes come before all second bytes.
  const float* scales = nullptr;
  const std::uint8_t* block_scales = nullptr;
  int scale_bytes = 1;
  float unit = 1;
};

/// Computes y[m * y_stride + n] for all rows of `x` and applies `epilogue`. The blocks of `x` are those of the weight's
/// scales, or all of K if the weight has one scale per row.
void int8_product(ThreadPool& pool, const Int8Rows& x, const Int8Weight& weight,
                  const Epilogue& epilogue, float* y, std::int64_t y_stride);

/// Computes the same and rounds it to `y` (M, N) with one scale per row, without storing the floats. The bits are those
/// of `round_rows` of the floats. `grid` must have a scale, and the epilogue must not accumulate.
void int8_product(ThreadPool& pool, const Int8Rows& x, const Int8Weight& weight,
                  const Epilogue& epilogue, const Int8Grid& grid, const Int8Rows& y);

/// Sets whether products may use instructions for sums of four products (AVX-512 VNNI, AVX-VNNI). Default: true. For
/// tests, which compare with the paths of other CPUs.
void allow_quad_products(bool allowed);
/// Returns whether products use these instructions.
bool uses_quad_products();

}  // namespace hone::kernels
