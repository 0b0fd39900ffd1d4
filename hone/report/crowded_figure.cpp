#include "hone/report/crowded_figure.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace hone {
namespace {

bool is_drawn(const Point& point) { return std::isfinite(point.x) && std::isfinite(point.y); }

void widen(Range& range, const Point& point) {
  for (const double y : {point.y, point.low, point.high}) {
    if (!std::isfinite(y)) continue;
    range.low = std::min(range.low, y);
    range.high = std::max(range.high, y);
  }
}

double height(const Range& range) { return range.high - range.low; }

// Of points in the order of y: the better two thirds of them, or the narrowest run where nothing is better.
Range crowd_of(const std::vector<Point>& points, BetterEnd better) {
  const std::size_t count = (2 * points.size() + 2) / 3;
  std::size_t best = better == BetterEnd::high ? points.size() - count : 0;
  for (std::size_t first = 1; better == BetterEnd::unknown && first + count <= points.size();
       ++first)
    if (points[first + count - 1].y - points[first].y < points[best + count - 1].y - points[best].y)
      best = first;
  const Range heart = {points[best].y, points[best + count - 1].y};
  Range crowd = heart;
  for (const Point& point : points)
    if (point.y >= heart.low && point.y <= heart.high) widen(crowd, point);
  return crowd;
}

// Those that widen the crowd a little; a baseline is what the values are compared with.
void join_near(const std::vector<Reference>& references, Range& crowd) {
  const double most = 1.3 * height(crowd);
  for (const Reference& reference : references) {
    Range wider = crowd;
    widen(wider, {0, reference.y});
    if (height(wider) <= most) crowd = wider;
  }
}

bool zoom(Panel& panel) {
  if (panel.series.size() < 2 || panel.y.range) return false;
  std::vector<Point> points;
  for (const Series& series : panel.series)
    std::ranges::copy_if(series.points, std::back_inserter(points), is_drawn);
  constexpr std::size_t kFew = 6;
  if (points.size() < kFew) return false;
  std::ranges::stable_sort(points, {}, &Point::y);
  Range all = {points.front().y, points.front().y};
  for (const Point& point : points) widen(all, point);
  Range crowd = crowd_of(points, panel.y.better);
  // Means of equal numbers may differ in their last bits: there is nothing to see between them.
  constexpr double kOneHeight = 1e-9;
  if (height(crowd) <= kOneHeight * height(all) || 2 * height(crowd) > height(all)) return false;
  join_near(panel.references, crowd);
  const double margin = 0.05 * height(crowd);
  panel.y.range = Range{crowd.low - margin, crowd.high + margin};
  return true;
}

// "fp32 50.1": references with their values, and labels of series that have no point in view.
void add_outside(const Panel& panel, std::vector<std::string>& names) {
  const auto is_seen = [&](double y) {
    return panel.y.range->low <= y && y <= panel.y.range->high;
  };
  const auto add = [&](const std::string& name) {
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  };
  for (const Reference& reference : panel.references)
    if (std::isfinite(reference.y) && !is_seen(reference.y))
      add(fmt::format("{} {:.4g}", reference.label, reference.y));
  for (const Series& series : panel.series)
    if (!series.label.empty() && std::ranges::any_of(series.points, is_drawn) &&
        std::ranges::none_of(series.points, [&](const Point& point) { return is_seen(point.y); }))
      add(series.label);
}

}  // namespace

std::optional<Figure> zoomed_to_crowd(Figure figure) {
  bool any = false;
  std::vector<std::string> outside;
  for (Panel& panel : figure.panels) {
    if (!zoom(panel)) continue;
    any = true;
    add_outside(panel, outside);
  }
  if (!any) return std::nullopt;
  figure.title += ", where values lie close";
  if (!outside.empty())
    figure.note += fmt::format("{}Outside this range: {}.", figure.note.empty() ? "" : " ",
                               fmt::join(outside, ", "));
  return figure;
}

}  // namespace hone
