#pragma once

#include "hone/kernels/scalar/bits.h"

/// Rounding to powers of two.
namespace hone::scalar {

/// Like `kernels::PowerGrid`: zero, and 2^min_exponent to 2^max_exponent; -126 <= min_exponent <= max_exponent <= 127.
struct Powers {
  int min_exponent = -126;
  int max_exponent = 127;

  /// Computed from bits: the fraction of sqrt(2) is between 0x3504f3 and 0x3504f4. Adding its distance to the next
  /// binade carries into the exponent. Subnormal floats below sqrt(1/2) 2^-126 become zero.
  float operator()(float x) const {
    if (is_nan(x)) return x;
    constexpr std::uint32_t kAboveRoot = 0x3504f4;
    const std::uint32_t smallest =
        min_exponent == -126 ? 0x5a827a
                             : (static_cast<std::uint32_t>(min_exponent + 126) << 23) | kAboveRoot;
    const std::uint32_t magnitude = magnitude_bits(x);
    if (magnitude < smallest) return with_sign_of(0.0f, x);
    const std::uint32_t carried = (magnitude + (0x800000 - kAboveRoot)) & kInfinityBits;
    const std::uint32_t largest = static_cast<std::uint32_t>(max_exponent + 127) << 23;
    return with_sign_of(float_of(smaller(carried, largest)), x);
  }
};

/// The format log: exponent fields from 1 on; field 0 is zero.
struct LogFields {
  std::int64_t highest_field = 0;
  std::int64_t bias = 0;

  Powers values() const {
    return {static_cast<int>(clamped<std::int64_t>(1 - bias, -126, 127)),
            static_cast<int>(clamped<std::int64_t>(highest_field - bias, -126, 127))};
  }
  LogFields with_bias(float calibrated) const {
    return {highest_field, static_cast<std::int64_t>(calibrated)};
  }
};

}  // namespace hone::scalar
