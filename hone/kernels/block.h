#pragma once

#include <cstdint>

#include "hone/base/thread_pool.h"
#include "hone/kernels/minifloat.h"

/// Rounding in blocks: the values of a block share a scale, a power of two that depends on their largest magnitude.
namespace hone::kernels {

/// A dense tensor (matrices, rows, columns) whose matrices are split into blocks. Blocks at the right and lower edges
/// are smaller if the block size does not divide the matrix. Blocks larger than the matrix contain all of it.
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
///   k = clamp(e + offset + (1 if the 23 fraction bits of f are at least next_from), lowest,
///             highest).
struct BlockScale {
  int offset = 0;
  int lowest = -126;
  int highest = 127;
  std::uint32_t next_from = 1u << 23;  ///< 2^23: never
};

/// Computes y = 2^k round(x / 2^k), with every value rounded to the nearest of `elements`, ties to even. A block of
/// zeros is unchanged; a block with NaN or an infinity becomes NaN. The bits of y are the same on every CPU. y may be
/// the same array as x.
void round_blocks_to_minifloats(ThreadPool& pool, const BlockGrid& grid, const BlockScale& scale,
                                const Minifloat& elements, const float* x, float* y);

/// The same with powers of two as elements: 2^-octaves to 2^0 and zero (see `PowerGrid`), without powers below 2^-126.
/// The exponents of scales must be within -126 to 127.
void round_blocks_to_powers(ThreadPool& pool, const BlockGrid& grid, const BlockScale& scale,
                            int octaves, const float* x, float* y);

}  // namespace hone::kernels
