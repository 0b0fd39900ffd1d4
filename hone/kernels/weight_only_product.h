#pragma once

#include <cstdint>
#include <optional>

#include "hone/base/thread_pool.h"
#include "hone/kernels/epilogue.h"
#include "hone/kernels/half_conversion.h"

/// Products of float activations with packed weights. They save memory and memory bandwidth; only the weights are
/// rounded.
///
/// The results have the bits of `gemm` with the weights as floats, so a model computes the same as its simulation with
/// these weights. With few rows, weights are multiplied as they are decoded; with many rows, each panel is decoded once
/// for all of them.
namespace hone::kernels {

/// W (N,K): w = (values[code] + offset) · scale, each operation rounded once.
struct CodedWeight {
  std::int64_t rows = 0;     ///< N
  std::int64_t columns = 0;  ///< K
  int bits = 8;              ///< per code, 1 to 8, or 16 with `half`
  /// In panels (see packed_matrix.h), aligned to a cache line for best speed.
  const std::uint8_t* codes = nullptr;
  /// (2^bits) values of the codes. Integers are fastest: consecutive ones for codes of 5 bits and more, any from -128
  /// to 127 for fewer bits.
  const float* values = nullptr;
  /// If set, codes are numbers of this type, without `values` and `offsets`.
  std::optional<Half> half = std::nullopt;
  const float* offsets = nullptr;  ///< (N) integers, as `values` must be then; null: none
  /// One scale per row (N), or one byte e per row and `block` columns, in panels, for the scale
  /// 2^(e + scale_shift - 127) · `unit`. With e + scale_shift = 0 a block is zero; with 255 results are infinite or
  /// NaN.
  const float* scales = nullptr;
  /// With `scale_bytes` = 2 a scale is a float16 times `unit`. With 3, the third byte is an integer zero point that is
  /// subtracted from `values`, which must be integers. Within a block of a panel, all first bytes come before all
  /// second bytes.
  const std::uint8_t* block_scales = nullptr;
  std::int64_t block = 0;
  int scale_bytes = 1;
  int scale_shift = 0;
  float unit = 1;

  /// Returns whether offsets or zero points are added to `values`.
  bool adds() const { return offsets != nullptr || scale_bytes == 3; }
};

/// X (M,K), rows `stride` apart.
struct FloatRows {
  const float* data = nullptr;
  std::int64_t rows = 0;
  std::int64_t stride = 0;
};

/// Computes y[m * y_stride + n] and applies `epilogue`, whose residual must not overlap y.
void weight_only_product(ThreadPool& pool, const FloatRows& x, const CodedWeight& weight,
                         const Epilogue& epilogue, float* y, std::int64_t y_stride);

}  // namespace hone::kernels
