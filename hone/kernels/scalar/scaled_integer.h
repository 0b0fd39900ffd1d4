#pragma once

#include "hone/kernels/scalar/bits.h"

/// Integer multiples of a scale: the format int, and formats with a learned scale.
namespace hone::scalar {

/// Like `kernels::ScaledGrid`.
struct ScaledGrid {
  float scale = 1.0f;
  float lowest = 0.0f;
  float highest = 0.0f;

  /// Returns the integer code of x; NaN for NaN.
  float whole(float x) const { return clamped(std::nearbyint(x * (1 / scale)), lowest, highest); }
  float operator()(float x) const { return whole(x) * scale; }
};

/// Clamps a scale between the smallest normal float and the largest for which multiples up to `bound` are finite.
inline float usable_scale(float scale, float bound) {
  constexpr std::uint32_t kSmallestNormal = 0x00800000, kLargest = 0x7f7fffff;
  const float most = float_of(kLargest) / bound;
  // the float below it
  return clamped(scale, float_of(kSmallestNormal), float_of(bits_of(most) - 1));
}

/// Returns the multiples from -bound to bound of the magnitude of a learned scale.
inline ScaledGrid learned_grid(float scale, float bound) {
  return {usable_scale(std::fabs(scale), bound), -bound, bound};
}

/// The smallest and the largest of finite values and 0.
struct ValueRange {
  float lowest = 0.0f;
  float highest = 0.0f;
};

/// Grids of the format int.
struct IntegerGrids {
  float bound = 0;   ///< the largest magnitude of symmetric codes: 2^(bits - 1) - 1
  float levels = 0;  ///< 2^bits - 1
  bool affine = false;

  ScaledGrid of(float scale, float zero_point) const {
    if (!affine) return learned_grid(scale, bound);
    const float zero = clamped(std::nearbyint(zero_point), 0.0f, levels);
    return {usable_scale(scale, larger(zero, levels - zero)), -zero, levels - zero};
  }
  ScaledGrid of(const ValueRange& range) const {
    if (!affine) return of(larger(-range.lowest, range.highest) / bound, 0);
    // Each term is finite even if the difference of the ends is not.
    const float scale = usable_scale(range.highest / levels - range.lowest / levels, 1);
    return of(scale, -range.lowest / scale);
  }
};

inline IntegerGrids integer_grids(int bits, bool affine) {
  return {float_power(bits - 1) - 1, float_power(bits) - 1, affine};
}

/// The old scale_integer on one row.
struct OldScaledRow {
  float scale = 0;  ///< 2^(bits-1) / max|x|; NaN or 0 if the row has NaN or infinities
  float lowest = 0;
  float highest = 0;

  float whole(float x) const { return clamped(std::nearbyint(x * scale), lowest, highest); }
  float operator()(float x) const { return whole(x) / scale; }
};

struct OldScaledRows {
  int bits = 8;

  /// Returns the rounding for the largest magnitude of a row; NaN if the row contains NaN.
  OldScaledRow of(float largest) const {
    const float half = float_power(bits - 1);
    return {1 / (largest + 1e-9f) * half, -half, half - 1};
  }
};

}  // namespace hone::scalar
