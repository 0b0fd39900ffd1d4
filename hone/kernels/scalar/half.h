#pragma once

#include "hone/kernels/scalar/bits.h"

/// Scales of groups as float16 (IEEE binary16), so that packed and simulated values are the same numbers.
namespace hone::scalar {

constexpr float kSmallestHalf = 0x1p-24f;  ///< the smallest subnormal
constexpr float kLargestHalf = 65504;

/// Returns the value of the float16 with these 16 bits.
inline float half_value(std::uint32_t bits) {
  const std::uint32_t magnitude = (bits & 0x7fff) << 13, sign = (bits & 0x8000) << 16;
  constexpr std::uint32_t kSpecial = 0x7c00u << 13;  // infinity and above
  if (magnitude >= kSpecial) return float_of(magnitude | kInfinityBits | sign);
  // 2^112 moves the exponent from bias 15 to bias 127 and makes subnormals normal, exactly.
  return with_sign_of(float_of(magnitude) * 0x1p112f, float_of(sign));
}

/// Returns the bits of the float16 nearest to a scale, ties to even. Its magnitude is clamped between 2^-24 and 65504,
/// so it is never 0 or infinite. `scale` is finite.
inline std::uint32_t half_scale(float scale) {
  const std::uint32_t sign = bits_of(scale) >> 16 & 0x8000;
  const float magnitude = clamped(std::fabs(scale), kSmallestHalf, kLargestHalf);
  if (magnitude < 0x1p-14f)
    return sign | static_cast<std::uint32_t>(std::nearbyint(magnitude * 0x1p24f));
  const std::uint32_t bits = bits_of(magnitude);
  return sign | (((bits + 0xfff + (bits >> 13 & 1)) >> 13) - (112u << 10));
}

/// The same for a positive scale, rounded down.
inline std::uint32_t half_scale_below(float scale) {
  const std::uint32_t nearest = half_scale(scale);
  return nearest > 1 && half_value(nearest) > scale ? nearest - 1 : nearest;
}

}  // namespace hone::scalar
