#pragma once

#include "hone/kernels/scalar/bits.h"

/// Rounding to small floating-point formats.
namespace hone::scalar {

/// Like `kernels::Minifloat`, with the largest magnitude in double, since that of a block times its scale may overflow
/// float.
struct Minifloat {
  int mantissa_bits = 0;
  int min_exponent = 0;
  double highest = 0;
  bool infinite = false;

  float operator()(float x) const {
    if (is_nan(x)) return x;
    const double magnitude = std::fabs(static_cast<double>(x));
    double rounded = magnitude;
    if (is_finite(x)) {
      const int last_place = larger(binade(magnitude), min_exponent) - mantissa_bits;
      rounded = std::nearbyint(magnitude * power(-last_place)) * power(last_place);
    }
    const float beyond = infinite ? infinity() : static_cast<float>(highest);
    return with_sign_of(rounded > highest ? beyond : static_cast<float>(rounded), x);
  }
};

inline Minifloat bfloat16_values() { return {7, -126, 255 * power(120), true}; }
inline Minifloat float16_values() { return {10, -14, 65504, true}; }

/// The formats minifloat_ieee (`implicit_one`) and minifloat_denorm. Without an implicit one, the leading one is the
/// first mantissa bit. `fraction_bits` follow the leading one of normal numbers; `lowest_exponent` and
/// `highest_exponent` are those of the smallest and the largest of them.
struct MinifloatFields {
  bool implicit_one = true;
  int exponent_width = 0;
  int mantissa = 0;
  int bias = 0;

  int highest_field() const { return (1 << exponent_width) - 1; }
  int fraction_bits() const { return implicit_one ? mantissa : mantissa - 1; }
  int lowest_exponent() const { return implicit_one ? 1 - bias : -bias - 1; }
  int highest_exponent() const { return highest_field() - bias - (implicit_one ? 0 : 1); }
  Minifloat values() const {
    const double significand = 2 - power(-fraction_bits());
    return {fraction_bits(), lowest_exponent(),
            significand * power(smaller(highest_exponent(), 127))};
  }
};

}  // namespace hone::scalar
