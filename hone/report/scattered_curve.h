#pragma once

#include <string>
#include <vector>

#include "hone/report/figure.h"

/// Curves of values that scatter from point to point, as the loss of training steps does.
namespace hone {

/// Of more than `most` points, means of as many neighbours as it takes; how many that are.
struct ThinnedPoints {
  std::vector<Point> points;
  std::size_t mean_of = 1;
};
ThinnedPoints thinned(const std::vector<Point>& points, std::size_t most);

/// The points as a faint line, and over it, in the same colour, the line of their means over a twentieth of all, of
/// few points over up to nine of them. Under eight there is nothing to smooth: one line alone.
std::vector<Series> scattered_curve(const std::string& label, const std::vector<Point>& points);

}  // namespace hone
