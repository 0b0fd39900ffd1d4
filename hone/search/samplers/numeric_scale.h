#pragma once

#include "hone/search/distribution.h"

namespace hone {

/// The scale on which samplers compute with the numbers of a parameter: bounds widened by half a step on either side, so that
/// each step has an interval of its own, and logarithms of all where the parameter is logarithmic.
struct NumericScale {
  double low = 0;
  double high = 0;
  bool logarithmic = false;

  double width() const { return high - low; }
  /// NaN or infinite for a number that has no logarithm.
  double to_scale(double internal) const;
  /// The value of `distribution` nearest to a place on the scale; halves go to even steps.
  double from_scale(double place, const Distribution& distribution) const;
};

/// Of a parameter that is not categorical.
NumericScale scale_of(const Distribution& distribution);

}  // namespace hone
