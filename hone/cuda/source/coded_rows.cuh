#pragma once
// Arguments of the kernels that round values to bytes and multiply bytes. The host's compiler and NVRTC both compile
// this header.
#include <cstdint>

namespace hone::cuda {

/// Rows of bytes, laid out like `kernels::Int8Rows` except after the scales: only CPUs use the sums of codes in
/// `Int8Rows::starts`. Element (m, k) of block b is codes[m * stride + k] · 2^d · scales[m]; origins[b * rows + m]
/// holds the bits of the float 1.5 · 2^(23 + d). Rows with one scale have no origins.
struct CodedRows {
  std::int64_t rows, columns, stride;
  std::int64_t block, blocks;  ///< columns of a block, and blocks of a row
  std::int8_t* codes;          ///< rows are padded with zeros
  float* scales;               ///< NaN for a row that contains NaN
  std::int32_t* origins;
};

/// Codes from -bound to bound. `scale` points to a state; null: each row has its own scale, computed from its values.
struct CodeGrid {
  float bound;
  const float* scale;
};

/// Codes from -bound to bound, in units of 2^(e - fraction). The exponent e is that of the largest magnitude of a
/// block, or one more if its fraction bits reach `next_from`.
struct CodeBlocks {
  float bound;
  std::int32_t fraction;
  std::uint32_t next_from;
};

/// The integer of each stored code.
struct WholeNumbers {
  std::int8_t of[256];
};

/// A weight (rows, columns) of bytes, `stride` bytes from row to row, padded with zeros.
struct ByteMatrix {
  std::int64_t rows, stride;
  std::int8_t* bytes;
  float* scales;  ///< (rows), or (blocks, rows)
  float unit;     ///< of scales of blocks
};

/// The other operands of a product, and the destination of its rounded results. Pointers to values have the program's
/// type.
struct ProductEnds {
  const void* bias;
  const void* residual;  ///< null: none
  void* values;          ///< null: results are rounded to `codes`
  CodedRows codes;
  CodeGrid grid;
};

}  // namespace hone::cuda
