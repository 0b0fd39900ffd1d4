#include "hone/formats/mase_rounding.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace hone {
namespace {

constexpr float kPassing = 1e-8f;  // magnitudes up to here are not quantized
constexpr float kNudge = 1e-9f;    // added before the logarithm

constexpr std::uint32_t kRootOfTwo = 0x3504f3;  // fraction of the last float below sqrt(2)

// The floor of log2 of a positive normal float whose logarithm, rounded to float, is none of the
// integers nearby and not halfway between them: that can happen within 44 units in the last place
// of a power of two and of sqrt(2) times one. NaN for other floats.
float plain_floor_log2(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  const std::uint32_t field = bits >> 23, fraction = bits & 0x7fffffu;
  constexpr std::uint32_t kMargin = 64;
  const bool plain = field > 0 && field < 255 && fraction > kMargin &&
                     fraction < 0x800000u - kMargin &&
                     fraction - (kRootOfTwo - kMargin) > 2 * kMargin;
  return plain ? static_cast<float>(field) - 127 : std::numeric_limits<float>::quiet_NaN();
}

// floor, ceil and nearest integer of mase_log2(x) without the logarithm for most x.
float floor_log2(float x) {
  const float plain = plain_floor_log2(x);
  return std::isnan(plain) ? std::floor(mase_log2(x)) : plain;
}

float ceil_log2(float x) {
  const float plain = plain_floor_log2(x);
  return std::isnan(plain) ? std::ceil(mase_log2(x)) : plain + 1;
}

float round_log2(float x) {
  const float plain = plain_floor_log2(x);
  if (std::isnan(plain)) return std::nearbyint(mase_log2(x));
  return (std::bit_cast<std::uint32_t>(x) & 0x7fffffu) > kRootOfTwo ? plain + 1 : plain;
}

// std::nearbyint, inline: a float from 2^23 on has no bits behind the point.
float round_to_even(float x) {
  const float magnitude = std::fabs(x);
  return magnitude < 0x1p23f ? std::copysign((magnitude + 0x1p23f) - 0x1p23f, x) : x;
}

// std::clamp passes NaN on, as clamp of tensors does.
float clamped(float exponent, std::int64_t lowest, std::int64_t highest) {
  return std::clamp(exponent, static_cast<float>(lowest), static_cast<float>(highest));
}

std::int64_t highest_exponent(int width, std::int64_t bias) {
  return (std::int64_t{1} << width) - 1 - bias;
}

// Infinity and zero where the power is no float.
float power_of_two(float exponent) {
  if (exponent >= -126 && exponent <= 127)
    return std::bit_cast<float>(static_cast<std::uint32_t>(exponent + 127) << 23);
  if (std::isnan(exponent)) return exponent;
  return std::ldexp(1.0f, static_cast<int>(std::clamp(exponent, -1000.0f, 1000.0f)));
}

float sign_of(float x) { return static_cast<float>((x > 0) - (x < 0)); }

// The result and the passing values are blended by multiplication with 0 and 1, which makes
// infinities NaN.
float blended(float x, float y) { return std::fabs(x) <= kPassing ? 0.0f * y + x : y + 0.0f * x; }

}  // namespace

float mase_minifloat_ieee(const MaseFloat& format, float x) {
  const std::int64_t lowest = -format.exponent_bias;
  const float steps = std::ldexp(1.0f, format.mantissa_bits);
  const float magnitude = std::fabs(x);
  const float exponent = clamped(floor_log2(magnitude + kNudge), lowest,
                                 highest_exponent(format.exponent_width, format.exponent_bias));
  const float power = power_of_two(exponent);
  if (exponent == static_cast<float>(lowest)) {
    const float whole = round_to_even(magnitude / power * (steps / 2));
    return blended(x, sign_of(x) * (std::clamp(whole, 0.0f, steps - 1) / steps * (2 * power)));
  }
  const float whole = round_to_even(magnitude / power * steps - steps);
  return blended(x, sign_of(x) * ((1 + std::clamp(whole, 0.0f, steps - 1) / steps) * power));
}

float mase_minifloat_denorm(const MaseFloat& format, float x) {
  const float steps = std::ldexp(1.0f, format.mantissa_bits);
  const float magnitude = std::fabs(x);
  const float exponent = clamped(ceil_log2(magnitude + kNudge), -format.exponent_bias,
                                 highest_exponent(format.exponent_width, format.exponent_bias));
  const float power = power_of_two(exponent);
  const float whole = round_to_even(magnitude / power * steps);
  return blended(x, sign_of(x) * power * (std::clamp(whole, 0.0f, steps - 1) / steps));
}

float mase_mantissa(int mantissa_bits, float exponent, float x) {
  const float steps = std::ldexp(1.0f, mantissa_bits), power = power_of_two(exponent);
  const float whole = round_to_even((std::fabs(x) + kNudge) / power * steps);
  return blended(x, sign_of(x) * power * (std::clamp(whole, 0.0f, steps - 1) / steps));
}

float mase_log2(float x) { return static_cast<float>(std::log2(static_cast<double>(x))); }

float mase_log(int exponent_width, std::int64_t exponent_bias, float offset, float x) {
  const float exponent = clamped(round_log2(std::fabs(x) + offset), -exponent_bias,
                                 highest_exponent(exponent_width, exponent_bias));
  return sign_of(x + offset) * power_of_two(exponent);
}

}  // namespace hone
