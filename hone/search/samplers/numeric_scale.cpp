#include "hone/search/samplers/numeric_scale.h"

#include <algorithm>
#include <cmath>

namespace hone {

double NumericScale::to_scale(double internal) const {
  return logarithmic ? std::log(internal) : internal;
}

double NumericScale::from_scale(double place, const Distribution& distribution) const {
  double value = logarithmic ? std::exp(place) : place;
  if (distribution.step) {
    const double step = *distribution.step;
    value = distribution.low + std::nearbyint((value - distribution.low) / step) * step;
  }
  return std::clamp(value, distribution.low, distribution.high);
}

NumericScale scale_of(const Distribution& distribution) {
  const double half = distribution.step.value_or(0) / 2;
  NumericScale scale{distribution.low - half, distribution.high + half, distribution.logarithmic};
  scale.low = scale.to_scale(scale.low);
  scale.high = scale.to_scale(scale.high);
  return scale;
}

}  // namespace hone
