#pragma once

#include <string>
#include <vector>

#include "hone/report/figure.h"

/// Curves of values that scatter from point to point, such as the loss of training steps.
namespace hone {

/// Reduces more than `most` points to means of neighbors; `mean_of` is the number of points per mean.
struct ThinnedPoints {
  std::vector<Point> points;
  std::size_t mean_of = 1;
};
ThinnedPoints thinned(const std::vector<Point>& points, std::size_t most);

/// Returns the points as a faint line and, in the same color, the line of their moving averages over a twentieth of all
/// points, or up to nine if there are few. Fewer than eight are not smoothed: one line.
std::vector<Series> smoothed_curve(const std::string& label, const std::vector<Point>& points);

}  // namespace hone
