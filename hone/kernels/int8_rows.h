#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "hone/base/thread_pool.h"

/// Activations X(M,K) rounded to integers of at most 8 bits, as products with packed weights read
/// them (`int8_product`). The values are those of the formats `int` and `mxint`, bit for bit.
///
///     Scratch memory;
///     const Int8Shape shape{T, I, 32};
///     const Int8Rows x = int8_rows(shape, memory.bytes(int8_rows_bytes(shape)));
///     round_rows_in_blocks(pool, activations, {.bits = 8}, x);
namespace hone::kernels {

/// Elements of a block at most where a row has more than one: sums of a block stay below 2^22.
inline constexpr std::int64_t kMostInt8Block = 256;
/// The bits of 1.5 · 2^23, which `Int8Rows::starts` are made of.
inline constexpr std::int32_t kSumOrigin = 0x4b400000;
/// Elements of a row at most: its sum stays below 2^31.
inline constexpr std::int64_t kMostInt8Columns = std::int64_t{1} << 17;

/// `block` elements of a row are summed up together: a multiple of 16 up to `kMostInt8Block`, for
/// weights with scales per block, or `columns`, for weights with one scale per row. The last block
/// of a row may be narrower.
struct Int8Shape {
  std::int64_t rows = 0;     ///< M
  std::int64_t columns = 0;  ///< K, up to `kMostInt8Columns`
  std::int64_t block = 0;

  std::int64_t blocks() const { return block == 0 ? 0 : (columns + block - 1) / block; }
  /// Bytes from one row of codes to the next.
  std::int64_t stride() const { return (columns + 63) / 64 * 64; }
};

/// Views of memory that somebody else keeps. Element (m,k) of block b is
/// codes[m * stride + k] · 2^d · scales[m], with 2^d = 1 where a row has one scale.
struct Int8Rows {
  /// What products begin the sums of a block with stands together for so many rows, the last ones perhaps fewer.
  static constexpr std::int64_t kGroup = 6;

  Int8Shape shape;
  std::int8_t* codes = nullptr;  ///< (M, stride); zero behind a row
  float* scales = nullptr;       ///< (M); NaN where the row holds NaN or a block of it is NaN
  /// (M / kGroup, blocks, 2, rows of the group): the bits of the float 1.5 · 2^(23 + d) less 128 times the sum
  /// of the codes, and those bits alone.
  std::int32_t* starts = nullptr;

  /// The two of block b of row m.
  std::int32_t& start(std::int64_t m, std::int64_t b) const {
    const std::int64_t first = m / kGroup * kGroup;
    return starts[(first * shape.blocks() + b * group(m)) * 2 + m - first];
  }
  std::int32_t& origin(std::int64_t m, std::int64_t b) const { return (&start(m, b))[group(m)]; }
  /// The rows of the group of row m.
  std::int64_t group(std::int64_t m) const {
    return std::min(kGroup, shape.rows - m / kGroup * kGroup);
  }
};

/// The bytes that rows of this shape take, the same for each of them, and the rows in memory of as many, which is aligned
/// to a line of the cache.
std::size_t int8_rows_bytes(const Int8Shape& shape);
Int8Rows int8_rows(const Int8Shape& shape, void* memory);

/// Codes round(x / s) with one scale s for every row, or for all: those of `round_to_grid`.
struct Int8Grid {
  int bits = 8;  ///< 2 to 8; codes lie between -(2^(bits-1) - 1) and 2^(bits-1) - 1
  /// s, within the limits of `ScaledGrid`; 0: of every row the largest finite magnitude, divided by
  /// the highest code.
  float scale = 0;
};
/// `x` is (M,K) without gaps. Infinities saturate.
void round_rows(ThreadPool& pool, const float* x, const Int8Grid& grid, const Int8Rows& rows);

/// Codes round(x / 2^e 2^(bits-2)), at most 2^(bits-1) - 1 in magnitude, with one e for every block.
struct Int8Blocks {
  int bits = 8;  ///< 2 to 8
  /// e is the exponent of the block's largest magnitude f 2^e, 1 <= f < 2, or the next one where
  /// the 23 bits of f behind the point reach this (see `BlockScale`).
  std::uint32_t next_from = 1u << 23;
};
/// A block with NaN or an infinity is NaN. A block whose scale is below 2^-120 of the largest scale
/// of its row counts as zero.
void round_rows_in_blocks(ThreadPool& pool, const float* x, const Int8Blocks& blocks,
                          const Int8Rows& rows);

}  // namespace hone::kernels
