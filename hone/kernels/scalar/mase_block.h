#pragma once

#include "hone/kernels/scalar/block.h"
#include "hone/kernels/scalar/mase.h"

/// Rounding of blocks as in MASE: `mode=mase` of the block formats.
namespace hone::scalar {

struct MaseBlockFp {
  int mantissa_bits = 0;
  int lowest = 0;
  int highest = 0;

  float shared(float largest) const {
    return clamped(mase_ceil_log2(largest), static_cast<float>(lowest),
                   static_cast<float>(highest));
  }
  MaseMantissa of(std::uint32_t largest) const {
    return {mantissa_bits, shared(float_of(largest))};
  }
};

/// A rounding of single values, or NaN if the shared value of the block is NaN.
template <typename Round>
struct MaseBiased {
  Round round;
  bool is_nan = false;
  float operator()(float x) const { return is_nan ? not_a_number() : round(x); }
};

struct MaseBlockLog {
  int exponent_width = 0;
  float highest_bias = 0;

  float shared(float largest) const {
    const auto top = static_cast<float>((1 << exponent_width) - 1);
    return clamped(top - mase_ceil_log2(largest), 0.0f, highest_bias);
  }
  MaseLog with_bias(float bias) const {
    return {exponent_width, static_cast<std::int64_t>(bias), 0.1f * mase_power(-bias)};
  }
  MaseBiased<MaseLog> of(std::uint32_t largest) const {
    const float bias = shared(float_of(largest));
    if (is_nan(bias)) return {{}, true};
    return {with_bias(bias), false};
  }
};

struct MaseBlockMinifloat {
  int exponent_width = 0;
  int mantissa_bits = 0;
  float highest_bias = 0;

  float shared(float largest) const {
    return clamped(mase_floor_log2(largest), 0.0f, highest_bias);
  }
  MaseIeee with_bias(float bias) const {
    return {{exponent_width, mantissa_bits, static_cast<std::int64_t>(bias)}};
  }
  MaseBiased<MaseIeee> of(std::uint32_t largest) const {
    const float bias = shared(float_of(largest));
    if (is_nan(bias)) return {{}, true};
    return {with_bias(bias), false};
  }
};

/// Integer multiples of a power of two, rounded down.
struct MaseFloored {
  float power = 0;
  float limit = 0;
  float operator()(float x) const {
    return clamped(std::floor(x / power), -limit, limit - 1) * power;
  }
};

struct MaseMxintHardware {
  float limit = 0;
  int bias = 0;
  int lowest = 0;
  int highest = 0;

  float shared(float largest) const {
    return clamped(mase_ceil_log2(largest) - static_cast<float>(bias), static_cast<float>(lowest),
                   static_cast<float>(highest));
  }
  MaseFloored with_exponent(float exponent) const { return {mase_power(exponent), limit}; }
  MaseFloored of(std::uint32_t largest) const { return with_exponent(shared(float_of(largest))); }
};

/// Integer multiples of a power of two from -limit to limit - 1, all of them below 1 relative to the scale.
struct MaseMxintElements {
  double limit = 0;
  int k = 0;

  static double whole(double limit, double relative) {
    return clamped(std::nearbyint(relative * limit), -limit, limit - 1);
  }
  float operator()(float x) const {
    return static_cast<float>(whole(limit, x * power(-k)) / limit * power(k));
  }
};

struct MaseMxint {
  double limit = 0;

  int exponent(float largest) const {
    constexpr std::uint32_t kSmallestNormal = 0x00800000;
    return static_cast<int>(mase_ceil_log2(larger(largest, float_of(kSmallestNormal))));
  }
  BlockRounding<MaseMxintElements> of(std::uint32_t largest) const {
    if (largest >= kInfinityBits) return {{}, true, false};
    const int k = exponent(float_of(largest));
    return {{limit, k}, k == 128, true};
  }
};

/// Returns the magnitude of a code of small floats with these fields.
inline double small_float_magnitude(int mantissa_bits, int min_exponent, std::uint32_t code) {
  const std::uint32_t leading = 1u << mantissa_bits;
  const std::uint32_t fraction = code & (leading - 1), field = code >> mantissa_bits;
  const std::uint32_t steps = field == 0 ? fraction : fraction + leading;
  const int first = min_exponent + static_cast<int>(larger(field, 1u)) - 1;
  return steps * power(first - mantissa_bits);
}

struct MaseMxfpElements {
  MxfpElement element;
  int k = 0;

  /// Returns the code of a magnitude relative to the scale. The mantissa is truncated to 15 bits, then rounded. If it
  /// reaches the next binade, the carry is or-ed into the exponent instead of added.
  std::uint32_t code(double size) const {
    const int bias = element.bias(), frac = element.mantissa_bits;
    // Subnormal floats are treated as zero, before and after scaling.
    if (!(size >= power(-bias) && size * power(k) >= power(-126))) return 0;
    const int exponent = binade(size);
    const std::uint32_t cut = static_cast<std::uint32_t>(size * power(15 - exponent)) & 0x7fffu;
    auto mantissa = static_cast<std::uint32_t>(std::nearbyint(cut * power(frac - 15)));
    auto field = static_cast<std::uint32_t>(exponent + bias);
    if (exponent > element.highest_exponent_of_all()) {
      field = (1u << element.exponent_bits) - 1;
      mantissa = (1u << frac) - 1;
    }
    if (field == 0 && mantissa != 0) mantissa = (mantissa | 1u << frac) >> 1;
    return field << frac | mantissa;
  }
  float operator()(float x) const {
    const double size = std::fabs(static_cast<double>(x)) * power(-k);
    const double rounded =
        small_float_magnitude(element.mantissa_bits, 1 - element.bias(), code(size));
    return with_sign_of(static_cast<float>(rounded * power(k)), x);
  }
};

struct MaseMxfp {
  MxfpElement element;

  int exponent(float largest) const {
    const auto top = static_cast<float>(element.highest_exponent_of_all());
    return static_cast<int>(clamped(mase_floor_log2(largest) - top, -127.0f, 128.0f));
  }
  BlockRounding<MaseMxfpElements> of(std::uint32_t largest) const {
    if (largest >= kInfinityBits) return {{}, true, false};
    const int k = exponent(float_of(largest));
    return {{element, k}, k == 128, false};
  }
};

}  // namespace hone::scalar
