#pragma once

#include <cstdint>
#include <optional>

#include "hone/base/thread_pool.h"
#include "hone/kernels/epilogue.h"
#include "hone/kernels/half_conversion.h"

/// Products of float activations with packed weights: what is saved is memory and the reading of it, nothing is rounded
/// but the weights.
///
/// The bits are those of `gemm` with the weights as floats, so a model gives what its simulation with the same weights
/// gives. Few rows take the weights as they are decoded; many multiply by panels that were decoded once for all of them.
namespace hone::kernels {

/// W (N,K): w = (values[code] + offset) · scale, either operation rounded once.
struct CodedWeight {
  std::int64_t rows = 0;     ///< N
  std::int64_t columns = 0;  ///< K
  int bits = 8;              ///< of a code, 1 to 8, or 16 of a half
  /// In panels (see packed_matrix.h), aligned to a line of the cache for best speed.
  const std::uint8_t* codes = nullptr;
  /// (2^bits) what codes stand for. Whole numbers are fastest: those that follow each other for codes of 5 and more bits,
  /// any of -128 to 127 for fewer.
  const float* values = nullptr;
  /// Codes are such numbers themselves; there are no `values` and `offsets` then.
  std::optional<Half> half = std::nullopt;
  const float* offsets = nullptr;  ///< (N) whole numbers, as values then are, or null: none
  /// One scale for every row (N), or else one byte e for every row and `block` columns, in panels, which stands for
  /// 2^(e + scale_shift - 127) · `unit`; e + scale_shift = 0 makes a block zero, and with 255 results are infinite or NaN.
  const float* scales = nullptr;
  ///
  /// With `scale_bytes` of 2 a scale is a float16 times `unit`, and with 3 the third byte is a whole number that is taken from
  /// `values`, which then are such. Of a block all first bytes of a panel come before all second ones.
  const std::uint8_t* block_scales = nullptr;
  std::int64_t block = 0;
  int scale_bytes = 1;
  int scale_shift = 0;
  float unit = 1;

  /// Whether something is added to `values`.
  bool adds() const { return offsets != nullptr || scale_bytes == 3; }
};

/// X (M,K), rows `stride` apart.
struct FloatRows {
  const float* data = nullptr;
  std::int64_t rows = 0;
  std::int64_t stride = 0;
};

/// y[m * y_stride + n], through `epilogue`, whose residual must not overlap y.
void weight_only_product(ThreadPool& pool, const FloatRows& x, const CodedWeight& weight,
                         const Epilogue& epilogue, float* y, std::int64_t y_stride);

}  // namespace hone::kernels
