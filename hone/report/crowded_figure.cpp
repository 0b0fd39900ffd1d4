#include "hone/report/crowded_figure.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <span>

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

// Returns the range of the better two thirds of the points, which are sorted by y; the narrowest range of two thirds if
// no end is better.
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

// Includes references that widen the window only a little; values are compared with a baseline.
void zoom_to(Range crowd, Panel& panel) {
  const double most = 1.3 * height(crowd);
  for (const Reference& reference : panel.references) {
    Range wider = crowd;
    widen(wider, {0, reference.y});
    if (height(wider) <= most) crowd = wider;
  }
  const double margin = 0.05 * height(crowd);
  panel.y.range = Range{crowd.low - margin, crowd.high + margin};
}

// Returns the number of heights in this window that differ by more than rounding.
std::size_t distinct_heights(const std::vector<Point>& points, const Range& window,
                             double rounding) {
  std::size_t distinct = 0;
  double last = -std::numeric_limits<double>::infinity();
  for (const Point& point : points) {
    if (point.y < window.low || point.y > window.high || point.y - last <= rounding) continue;
    ++distinct;
    last = point.y;
  }
  return distinct;
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
  const Range crowd = crowd_of(points, panel.y.better);
  if (2 * height(crowd) > height(all)) return false;
  // Means of equal numbers may differ in their last bits. Zooming in to two flat lines shows nothing new.
  constexpr double kRounding = 1e-9;
  if (distinct_heights(points, crowd, kRounding * height(all)) < 3) return false;
  zoom_to(crowd, panel);
  return true;
}

bool is_seen(const Panel& panel, double y) {
  return !panel.y.range || (panel.y.range->low <= y && y <= panel.y.range->high);
}

// Returns the x of the visible points, by series label.
std::map<std::string, std::set<double>> shown_points(const Panel& panel) {
  std::map<std::string, std::set<double>> shown;
  for (const Series& series : panel.series)
    for (const Point& point : series.points)
      if (std::set<double>& own = shown[series.label]; is_drawn(point) && is_seen(panel, point.y))
        own.insert(point.x);
  return shown;
}

// Hides the other points of these series, and zooms in to the rest.
void show(const std::map<std::string, std::set<double>>& shown, Panel& panel) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  Range left = {kInfinity, -kInfinity};
  for (Series& series : panel.series) {
    const auto own = shown.find(series.label);
    for (Point& point : series.points) {
      if (own != shown.end() && !own->second.contains(point.x))
        point = {.x = point.x, .y = kNoValue};
      else if (is_drawn(point))
        widen(left, point);
    }
  }
  // Without this, the axis fits the rest with all references.
  if (!panel.y.range && !panel.y.logarithmic && height(left) > 0) zoom_to(left, panel);
}

// Adds references outside with their values, "fp32 50.1", and labels of series without a visible point.
void add_outside(const Panel& panel, std::vector<std::string>& names) {
  const auto add = [&](const std::string& name) {
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  };
  for (const Reference& reference : panel.references)
    if (std::isfinite(reference.y) && !is_seen(panel, reference.y))
      add(fmt::format("{} {:.4g}", reference.label, reference.y));
  for (const Series& series : panel.series)
    if (!series.label.empty() && std::ranges::any_of(series.points, is_drawn) &&
        std::ranges::none_of(series.points,
                             [&](const Point& point) { return is_seen(panel, point.y); }))
      add(series.label);
}

}  // namespace

std::optional<Figure> zoomed_to_crowd(Figure figure) {
  if (figure.panels.empty() || !zoom(figure.panels.front())) return std::nullopt;
  const Panel& first = figure.panels.front();
  const auto shown = shown_points(first);
  const auto add_note = [&](const std::string& text) {
    figure.note += (figure.note.empty() ? "" : " ") + text;
  };
  std::vector<std::string> outside;
  add_outside(first, outside);
  bool any_like_first = false;
  for (Panel& panel : std::span(figure.panels).subspan(1)) {
    const bool is_like_first = panel.x.label == first.x.label;
    if (is_like_first) show(shown, panel);
    if (is_like_first || zoom(panel)) add_outside(panel, outside);
    any_like_first |= is_like_first;
  }
  if (any_like_first) add_note("Panels with the same x axis show the same points.");
  if (!outside.empty()) add_note(fmt::format("Outside this range: {}.", fmt::join(outside, ", ")));
  figure.title += ", where values lie close";
  return figure;
}

}  // namespace hone
