#include "hone/report/smoothed_curve.h"

#include <algorithm>

namespace hone {
namespace {

// Returns the neighbors on each side that a mean includes: a fortieth of all points; of few points four, of fewer an
// eighth.
std::size_t reach_of(std::size_t points) {
  constexpr std::size_t kPart = 40, kNeighbours = 4, kPartOfFew = 8;
  return std::max(points / kPart, std::min(kNeighbours, points / kPartOfFew));
}

// Near the ends the mean includes fewer points on one side.
std::vector<Point> smoothed(const std::vector<Point>& points) {
  const std::size_t reach = reach_of(points.size());
  std::vector<Point> means = points;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const std::size_t begin = i - std::min(reach, i), end = std::min(i + reach + 1, points.size());
    double sum = 0;
    for (std::size_t j = begin; j < end; ++j) sum += points[j].y;
    means[i].y = sum / static_cast<double>(end - begin);
  }
  return means;
}

}  // namespace

ThinnedPoints thinned(const std::vector<Point>& points, std::size_t most) {
  ThinnedPoints result{.points = {}, .mean_of = (points.size() + most - 1) / most};
  if (result.mean_of <= 1) return {points, 1};
  for (std::size_t begin = 0; begin < points.size(); begin += result.mean_of) {
    const std::size_t end = std::min(begin + result.mean_of, points.size());
    Point mean;
    for (std::size_t i = begin; i < end; ++i) {
      mean.x += points[i].x / static_cast<double>(end - begin);
      mean.y += points[i].y / static_cast<double>(end - begin);
    }
    result.points.push_back(mean);
  }
  return result;
}

std::vector<Series> smoothed_curve(const std::string& label, const std::vector<Point>& points) {
  if (reach_of(points.size()) == 0) return {{.label = label, .points = points, .draw = Draw::line}};
  return {{.label = label, .points = points, .draw = Draw::faint},
          {.label = label, .points = smoothed(points), .draw = Draw::line}};
}

}  // namespace hone
