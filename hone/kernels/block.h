#pragma once

#include <cstdint>

#include "hone/base/thread_pool.h"
#include "hone/kernels/minifloat.h"

/// Rounding in blocks: the values of a block share a scale, a power of two that follows from the
/// largest magnitude among them.
namespace hone::kernels {

/// A dense tensor (matrices, rows, columns) whose matrices are cut into blocks. The last block of a
/// row is narrower and the last row of blocks lower where they do not divide the matrix; blocks
/// larger than the matrix stand for all of it.
struct BlockGrid {
  std::int64_t matrices = 1;
  std::int64_t rows = 1;
  std::int64_t columns = 0;
  std::int64_t block_rows = 1;
  std::int64_t block_columns = 1;

  std::int64_t blocks_across() const { return (columns + block_columns - 1) / block_columns; }
  std::int64_t blocks_down() const { return (rows + block_rows - 1) / block_rows; }
  std::int64_t blocks() const { return matrices * blocks_down() * blocks_across(); }
};

/// The scale of a block whose largest magnitude is f 2^e, 1 <= f < 2: 2^k with
///   k = clamp(e + offset + (1 if the 23 bits of f behind the point reach next_from), lowest,
///             highest).
struct BlockScale {
  int offset = 0;
  int lowest = -126;
  int highest = 127;
  std::uint32_t next_from = 1u << 23;  ///< 2^23: never
};

/// y = 2^k round(x / 2^k): every value rounded to the nearest of `elements`, ties to even. A block
/// of zeros stays as it is; a block with a NaN or an infinity becomes NaN. The bits of y are the
/// same on every processor. y may be the same array as x.
void round_blocks_to_minifloats(ThreadPool& pool, const BlockGrid& grid, const BlockScale& scale,
                                const Minifloat& elements, const float* x, float* y);

/// The same with powers of two for elements, 2^-octaves … 2^0 and zero (see `PowerGrid`); powers
/// below 2^-126 are left out. The scales lie within -126 … 127.
void round_blocks_to_powers(ThreadPool& pool, const BlockGrid& grid, const BlockScale& scale,
                            int octaves, const float* x, float* y);

}  // namespace hone::kernels
