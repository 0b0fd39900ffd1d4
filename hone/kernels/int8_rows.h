#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "hone/base/thread_pool.h"

/// Activations X (M,K) rounded to integers of at most 8 bits for products with packed weights (`int8_product`). The
/// values are those of the formats `int` and `mxint`, bit for bit.
///
///     Scratch memory;
///     const Int8Shape shape{T, I, 32};
///     const Int8Rows x = int8_rows(shape, memory.bytes(int8_rows_bytes(shape)));
///     round_rows_in_blocks(pool, activations, {.bits = 8}, x);
namespace hone::kernels {

/// Largest block if a row has several blocks: sums of a block stay below 2^22.
inline constexpr std::int64_t kMaxInt8Block = 256;
/// The bits of the float 1.5 · 2^23, the base of `Int8Rows::starts`.
inline constexpr std::int32_t kSumOrigin = 0x4b400000;
/// Largest number of elements of a row: its sum stays below 2^31.
inline constexpr std::int64_t kMaxInt8Columns = std::int64_t{1} << 17;

/// Sizes of rounded activations. `block` elements of a row are summed together: a multiple of 16 up to `kMaxInt8Block`
/// for weights with scales per block, or `columns` for weights with one scale per row. The last block of a row may be
/// narrower.
struct Int8Shape {
  std::int64_t rows = 0;     ///< M
  std::int64_t columns = 0;  ///< K, up to `kMaxInt8Columns`
  std::int64_t block = 0;

  std::int64_t blocks() const { return block == 0 ? 0 : (columns + block - 1) / block; }
  /// Returns the stride of rows of codes in bytes.
  std::int64_t stride() const { return (columns + 63) / 64 * 64; }
};

/// Rounded activations in memory that the caller owns. Element (m,k) of block b is
/// codes[m * stride + k] · 2^d · scales[m], with 2^d = 1 if a row has one scale.
struct Int8Rows {
  /// Number of rows whose `starts` of a block are stored together; the last group may have fewer.
  static constexpr std::int64_t kGroup = 6;

  Int8Shape shape;
  std::int8_t* codes = nullptr;  ///< (M, stride); zero after the end of a row
  float* scales = nullptr;       ///< (M); NaN if the row has NaN or, with blocks, an infinity
  /// (M / kGroup, blocks, 2, rows of the group): initial values of the sums of products. First the origin, the bits of
  /// the float 1.5 · 2^(23 + d), minus 128 times the sum of the codes; then the origin itself.
  std::int32_t* starts = nullptr;

  /// Return the two values of block b of row m.
  std::int32_t& start(std::int64_t m, std::int64_t b) const {
    const std::int64_t first = m / kGroup * kGroup;
    return starts[(first * shape.blocks() + b * group(m)) * 2 + m - first];
  }
  std::int32_t& origin(std::int64_t m, std::int64_t b) const { return (&start(m, b))[group(m)]; }
  /// Returns the number of rows in the group of row m.
  std::int64_t group(std::int64_t m) const {
    return std::min(kGroup, shape.rows - m / kGroup * kGroup);
  }
};

/// Return the size in bytes of rows of this shape, proportional to their number; and views of rows in `memory` of that
/// size, aligned to a cache line.
std::size_t int8_rows_bytes(const Int8Shape& shape);
Int8Rows int8_rows(const Int8Shape& shape, void* memory);

/// Codes round(x / s) with one scale s per row or for all rows, as in `round_to_grid`.
struct Int8Grid {
  int bits = 8;  ///< 2 to 8; codes are between -(2^(bits-1) - 1) and 2^(bits-1) - 1
  /// s, within the limits of `ScaledGrid`; 0: the largest finite magnitude of each row, divided by the highest code.
  float scale = 0;
};
/// Rounds `x` (M,K), contiguous, to `rows`. Infinities saturate.
void round_rows(ThreadPool& pool, const float* x, const Int8Grid& grid, const Int8Rows& rows);

/// Codes round(x / 2^e 2^(bits-2)), at most 2^(bits-1) - 1 in magnitude, with one e per block.
struct Int8Blocks {
  int bits = 8;  ///< 2 to 8
  /// e is the exponent of the block's largest magnitude f 2^e, 1 <= f < 2, plus 1 if the 23 fraction bits of f are at
  /// least `next_from` (see `BlockScale`).
  std::uint32_t next_from = 1u << 23;
};
/// Rounds `x` (M,K) in blocks. A row with NaN or an infinity gets the scale NaN. A block whose scale is below 2^-120
/// times the largest scale of its row becomes zero.
void round_rows_in_blocks(ThreadPool& pool, const float* x, const Int8Blocks& blocks,
                          const Int8Rows& rows);

}  // namespace hone::kernels
