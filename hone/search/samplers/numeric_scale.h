#pragma once

#include "hone/search/distribution.h"

namespace hone {

/// The scale on which samplers represent a numeric parameter: bounds widened by half a step on either side, so that
/// each step has its own interval, and logarithms if the parameter is logarithmic.
struct NumericScale {
  double low = 0;
  double high = 0;
  bool logarithmic = false;

  double width() const { return high - low; }
  /// NaN or infinite for a number that has no logarithm.
  double to_scale(double internal) const;
  /// Returns the value of `distribution` nearest to a position on the scale; halves round to even steps.
  double from_scale(double place, const Distribution& distribution) const;
};

/// Returns the scale of a parameter that is not categorical.
NumericScale scale_of(const Distribution& distribution);

}  // namespace hone
