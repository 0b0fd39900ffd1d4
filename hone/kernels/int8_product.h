#pragma once

#include <array>
#include <cstdint>

#include "hone/kernels/epilogue.h"
#include "hone/kernels/int8_rows.h"

/// Products of rounded activations with packed weights of 1 to 8 bits, summed up as integers. Those of
/// 8, 4, 2 and 1 bits are read as they lie, others unpacked panel by panel on the way.
///
///     // y(T,O) = x(T,I) W(O,I)^T + bias(O), with the values of MXINT8 on both sides
///     round_rows_in_blocks(pool, activations, {.bits = 8}, x);
///     int8_product(pool, x, {O, I, 8, packed, {}, nullptr, scales, 0x1p-6f}, {.bias = bias}, y, O);
///
/// With float16 scales of blocks 2^(weight scale - 127) is such a scale, and a zero point is taken from the codes of a block
/// before; terms are then rounded once, with the addition.
///
/// Sums over a block (or over K where weights have a scale per row) are exact. With scales per
/// block the sum over blocks goes on in float, in the order of the blocks: with 2^d from
/// `Int8Rows`,
///
///     total = (…(t_0 + t_1) + …),   t_b = (sum of block b) 2^d_b 2^(weight scale - 127),
///
/// every term exact and every addition rounded once, and y = (total unit) scales[m] + bias[n] with
/// one more rounding. With a scale per row y = ((float) sum · weight scale) scales[m] + bias[n],
/// the last two by a fused multiply-add. So a result does not depend on how the matrices are cut:
/// the bits are the same for any number of threads and of rows, and on every processor that fuses
/// multiplications and additions (on all others too where all scales are powers of two and no term
/// leaves the range of normal floats).
namespace hone::kernels {

/// W (N,K): value(code) = (values[code] - 128) · scale for codes of up to 4 bits, and
/// (code - 2^(bits-1)) · scale for wider ones.
struct Int8Weight {
  std::int64_t rows = 0;     ///< N
  std::int64_t columns = 0;  ///< K
  int bits = 8;              ///< of a code, 1 to 8
  /// In panels (see packed_matrix.h), aligned to a line of the cache for best speed.
  const std::uint8_t* codes = nullptr;
  /// What codes of up to 4 bits stand for; at first those of integers of 4 bits in offset binary.
  std::array<std::uint8_t, 16> values = {120, 121, 122, 123, 124, 125, 126, 127,
                                         128, 129, 130, 131, 132, 133, 134, 135};
  /// One scale for every row (N), or else one byte e for every row and block, in panels, which
  /// stands for 2^(e-127) · `unit`; e = 0 makes a block zero, and with e = 255 results are infinite
  /// or NaN.
  ///
  /// With `scale_bytes` of 2 a scale is a float16 times `unit`, and with 3 the third byte is a whole number that is taken from
  /// what codes stand for, counted from that of the code 0. Of a block all first bytes of a panel come before all second ones.
  const float* scales = nullptr;
  const std::uint8_t* block_scales = nullptr;
  int scale_bytes = 1;
  float unit = 1;
};

/// y[m * y_stride + n] for all rows of `x`, whose blocks are those of the weight's scales, or all of
/// K where it has one per row, through `epilogue`.
void int8_product(ThreadPool& pool, const Int8Rows& x, const Int8Weight& weight,
                  const Epilogue& epilogue, float* y, std::int64_t y_stride);

/// The same, rounded at once to `y`, (M, N), with one scale per row: the bits of `round_rows` of the floats, which are written
/// nowhere. The scale of `grid` must be given and the epilogue must not accumulate.
void int8_product(ThreadPool& pool, const Int8Rows& x, const Int8Weight& weight,
                  const Epilogue& epilogue, const Int8Grid& grid, const Int8Rows& y);

/// Whether products may use the instructions of processors that multiply quadruples (AVX-512 VNNI,
/// AVX-VNNI); they may at first. For tests, which compare with what other processors do.
void allow_quad_products(bool allowed);
/// Whether they do.
bool uses_quad_products();

}  // namespace hone::kernels
