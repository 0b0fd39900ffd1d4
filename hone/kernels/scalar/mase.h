#pragma once

#include "hone/kernels/scalar/bits.h"

/// Rounding of single values as in the Python project MASE, see hone/formats/mase_rounding.h.
namespace hone::scalar {

constexpr float kMasePassing = 1e-8f;  // magnitudes up to here are not quantized
constexpr float kMaseNudge = 1e-9f;    // added before the logarithm

constexpr std::uint32_t kMaseRootOfTwo = 0x3504f3;  // fraction of the last float below sqrt(2)

/// Returns log2 of a float, rounded to float. This hides the last places of the double, in which libraries differ: no
/// logarithm of a float is within a relative 2^-33 of a value where floor, ceil or the nearest integer of the rounded
/// one changes.
inline float mase_log2(float x) { return static_cast<float>(std::log2(static_cast<double>(x))); }

/// Returns floor(log2 x) of a positive normal float whose logarithm, rounded to float, is neither an integer nor
/// halfway between integers. That can happen within 44 units in the last place of a power of two and of sqrt(2) times
/// one. Returns NaN for other floats.
inline float mase_plain_floor_log2(float x) {
  const std::uint32_t bits = bits_of(x);
  const std::uint32_t field = bits >> 23, fraction = bits & 0x7fffffu;
  constexpr std::uint32_t kMargin = 64;
  const bool plain = field > 0 && field < 255 && fraction > kMargin &&
                     fraction < 0x800000u - kMargin &&
                     fraction - (kMaseRootOfTwo - kMargin) > 2 * kMargin;
  return plain ? static_cast<float>(field) - 127 : not_a_number();
}

// Return floor, ceil and nearest integer of mase_log2(x), without the logarithm for most x.
inline float mase_floor_log2(float x) {
  const float plain = mase_plain_floor_log2(x);
  return is_nan(plain) ? std::floor(mase_log2(x)) : plain;
}
inline float mase_ceil_log2(float x) {
  const float plain = mase_plain_floor_log2(x);
  return is_nan(plain) ? std::ceil(mase_log2(x)) : plain + 1;
}
inline float mase_round_log2(float x) {
  const float plain = mase_plain_floor_log2(x);
  if (is_nan(plain)) return std::nearbyint(mase_log2(x));
  return (bits_of(x) & 0x7fffffu) > kMaseRootOfTwo ? plain + 1 : plain;
}

/// std::nearbyint, inline: floats from 2^23 on have no fraction bits.
inline float mase_round_to_even(float x) {
  const float magnitude = std::fabs(x);
  constexpr float kNoFraction = 8388608.0f;  // 2^23
  return magnitude < kNoFraction ? with_sign_of((magnitude + kNoFraction) - kNoFraction, x) : x;
}

/// Returns 2^exponent; infinity if too large, zero if too small, NaN for NaN.
inline float mase_power(float exponent) {
  if (is_nan(exponent)) return exponent;
  return float_power(static_cast<int>(clamped(exponent, -1000.0f, 1000.0f)));
}

inline float mase_sign(float x) { return static_cast<float>((x > 0) - (x < 0)); }

/// Selects x or y by multiplication with 0 and 1, which turns infinities into NaN.
inline float mase_blended(float x, float y) {
  return std::fabs(x) <= kMasePassing ? 0.0f * y + x : y + 0.0f * x;
}

/// Sign, exponent field and mantissa field of a float of MASE.
struct MaseFields {
  int exponent_width = 0;
  int mantissa_bits = 0;
  std::int64_t exponent_bias = 0;

  float lowest() const { return static_cast<float>(-exponent_bias); }
  float highest() const {
    return static_cast<float>((std::int64_t{1} << exponent_width) - 1 - exponent_bias);
  }
};

struct MaseIeee {
  MaseFields fields;

  float operator()(float x) const {
    const float steps = float_power(fields.mantissa_bits);
    const float magnitude = std::fabs(x);
    const float exponent =
        clamped(mase_floor_log2(magnitude + kMaseNudge), fields.lowest(), fields.highest());
    const float power = mase_power(exponent);
    if (exponent == fields.lowest()) {
      const float whole = mase_round_to_even(magnitude / power * (steps / 2));
      return mase_blended(x,
                          mase_sign(x) * (clamped(whole, 0.0f, steps - 1) / steps * (2 * power)));
    }
    const float whole = mase_round_to_even(magnitude / power * steps - steps);
    return mase_blended(x, mase_sign(x) * ((1 + clamped(whole, 0.0f, steps - 1) / steps) * power));
  }
};

struct MaseDenorm {
  MaseFields fields;

  float operator()(float x) const {
    const float steps = float_power(fields.mantissa_bits);
    const float magnitude = std::fabs(x);
    const float exponent =
        clamped(mase_ceil_log2(magnitude + kMaseNudge), fields.lowest(), fields.highest());
    const float power = mase_power(exponent);
    const float whole = mase_round_to_even(magnitude / power * steps);
    return mase_blended(x, mase_sign(x) * power * (clamped(whole, 0.0f, steps - 1) / steps));
  }
};

struct MaseMantissa {
  int mantissa_bits = 0;
  float exponent = 0;

  float operator()(float x) const {
    const float steps = float_power(mantissa_bits), power = mase_power(exponent);
    const float whole = mase_round_to_even((std::fabs(x) + kMaseNudge) / power * steps);
    return mase_blended(x, mase_sign(x) * power * (clamped(whole, 0.0f, steps - 1) / steps));
  }
};

struct MaseLog {
  int exponent_width = 0;
  std::int64_t exponent_bias = 0;
  float offset = 0;

  float operator()(float x) const {
    const MaseFields fields{exponent_width, 0, exponent_bias};
    const float exponent =
        clamped(mase_round_log2(std::fabs(x) + offset), fields.lowest(), fields.highest());
    return mase_sign(x + offset) * mase_power(exponent);
  }
};

/// The format log: the offset, a tenth of the smallest power, is computed in double.
inline MaseLog mase_log_of(int exponent_width, std::int64_t exponent_bias) {
  const int smallest = static_cast<int>(clamped<std::int64_t>(-exponent_bias, -1000, 1000));
  return {exponent_width, exponent_bias, static_cast<float>(0.1 * power(smallest))};
}

}  // namespace hone::scalar
