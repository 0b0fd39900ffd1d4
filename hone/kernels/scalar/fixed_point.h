#pragma once

#include "hone/kernels/scalar/bits.h"

/// The format integer: integer multiples of 2^-fraction.
namespace hone::scalar {

struct FixedPoint {
  int fraction = 0;
  int least_fraction = -64;  ///< bounds of a calibrated fraction
  int most_fraction = 64;
  bool rounds_down = false;
  double lowest = 0;
  double highest = 0;

  FixedPoint with_fraction(float calibrated) const {
    FixedPoint same = *this;
    same.fraction = static_cast<int>(
        clamped(calibrated, static_cast<float>(least_fraction), static_cast<float>(most_fraction)));
    return same;
  }
  /// Returns the integer code of x; NaN for NaN.
  double whole(float x) const {
    const double scaled = static_cast<double>(x) * power(fraction);
    return clamped(rounds_down ? std::floor(scaled) : std::nearbyint(scaled), lowest, highest);
  }
  float operator()(float x) const { return static_cast<float>(whole(x) * power(-fraction)); }
};

}  // namespace hone::scalar
