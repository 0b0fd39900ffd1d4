#include "hone/report/figure_places.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <set>

namespace hone {
namespace {

constexpr double kMarker = 8;  // width and height of a marker
// The largest move sideways, in pixels: farther away, a point would seem to belong to another number, unless the axis
// has names.
constexpr double kFarthest = 18, kFarthestFromName = 108;
constexpr std::size_t kMostPoints = 500;  // among more, no marker stands out
constexpr double kRow = 0.7;              // share of a row for its bars

bool has_marker_each(const Series& series) {
  return series.draw == Draw::curve || series.draw == Draw::points;
}

/// The pixels that a point covers in its column.
struct Mark {
  std::size_t series;
  double x;  // of the point, not of its position in the drawing
  double low, high;
};

Mark mark_of(std::size_t index, const Series& series, const Point& point,
             const PanelLayout& layout) {
  const double y = layout.pixel_y(point.y);
  Mark mark{index, point.x, y - kMarker / 2, y + kMarker / 2};
  if (series.spread == Spread::bars && std::isfinite(point.low + point.high)) {
    mark.low = std::min(mark.low, layout.pixel_y(point.low));
    mark.high = std::max(mark.high, layout.pixel_y(point.high));
  }
  return mark;
}

/// Marks ordered by the x at which they are drawn.
class Marks {
 public:
  /// Whether all marks that overlap its heights are farther than `apart` from it.
  bool leave_room(double x, const Mark& mark, double apart) const {
    const auto end = marks_.upper_bound(x + apart);
    return std::none_of(marks_.lower_bound(x - apart), end, [&](const auto& entry) {
      const Mark& other = entry.second;
      return (other.series != mark.series || other.x == mark.x) && other.low < mark.high &&
             mark.low < other.high;
    });
  }
  void add(double x, const Mark& mark) { marks_.emplace(x, mark); }

 private:
  std::multimap<double, Mark> marks_;
};

// Returns the range in which a point may move: it stays nearer to its own number than to the next ones. `pixels` are
// those of all points, ascending.
Range room_of(double x, const std::vector<double>& pixels) {
  constexpr double kSame = 1;  // smaller distances cannot be read off an axis
  constexpr double kShare = 0.4;
  const auto above = std::ranges::upper_bound(pixels, x + kSame);
  const auto at = std::ranges::lower_bound(pixels, x - kSame);
  constexpr double kNone = std::numeric_limits<double>::infinity();
  return {at == pixels.begin() ? -kNone : x - kShare * (x - *std::prev(at)),
          above == pixels.end() ? kNone : x + kShare * (*above - x)};
}

// Returns the nearest free position, first to the right; in a crowd, markers may partly cover each other.
double free_pixel(double x, const Mark& mark, const Marks& marks, const Box& plot, double farthest,
                  const Range& room) {
  for (const double apart : {kMarker, kMarker / 2, kMarker / 4}) {
    for (double away = 0; away <= farthest; away += apart + 1) {
      for (const double side : {1.0, -1.0}) {
        const double place = x + side * away;
        const bool inside = away == 0 || (plot.left + kMarker / 2 <= place && place <= plot.right &&
                                          room.low < place && place < room.high);
        if (inside && marks.leave_room(place, mark, apart)) return place;
      }
    }
  }
  return x;
}

void dodge(const Panel& panel, const PanelLayout& layout, std::vector<std::vector<Place>>& places) {
  const bool names = !panel.x.ticks.empty() && !panel.x.logarithmic;
  std::vector<double> pixels;
  for (const Series& series : panel.series)
    if (has_marker_each(series))
      for (const Point& point : series.points)
        if (const double x = layout.pixel_x(point.x); std::isfinite(x)) pixels.push_back(x);
  std::ranges::sort(pixels);
  Marks marks;
  for (std::size_t i = 0; i < panel.series.size(); ++i) {
    const Series& series = panel.series[i];
    if (!has_marker_each(series)) continue;
    for (std::size_t j = 0; j < series.points.size(); ++j) {
      const Point& point = series.points[j];
      const double x = layout.pixel_x(point.x);
      const Mark mark = mark_of(i, series, point, layout);
      if (!std::isfinite(x + mark.low + mark.high)) continue;
      const double drawn = free_pixel(x, mark, marks, layout.plot,
                                      names ? kFarthestFromName : kFarthest, room_of(x, pixels));
      marks.add(drawn, mark);
      if (drawn == x) continue;
      const Box& plot = layout.plot;
      places[i][j].x = layout.x.value((drawn - plot.left) / (plot.right - plot.left));
    }
  }
}

// Bars of several series share the room of a row.
void share_rows(const Panel& panel, std::vector<std::vector<Place>>& places) {
  const auto count =
      static_cast<double>(std::ranges::count(panel.series, Draw::bars, &Series::draw));
  double number = 0;
  for (std::size_t i = 0; i < panel.series.size(); ++i) {
    if (panel.series[i].draw != Draw::bars) continue;
    for (Place& place : places[i]) place.y += kRow * ((count - 1) / 2 - number) / count;
    ++number;
  }
}

void add_line(std::vector<Pixel>& pixels, Pixel from, Pixel to) {
  const double length = std::hypot(to.x - from.x, to.y - from.y);
  const double steps = std::isfinite(length) ? std::clamp(std::ceil(length / 4), 1.0, 500.0) : 0;
  for (double step = 1; step <= steps; ++step)
    pixels.push_back(
        {from.x + (to.x - from.x) * step / steps, from.y + (to.y - from.y) * step / steps});
}

// Returns the boxes that names must not cover; lines are checked separately.
std::vector<Box> covered_boxes(const Panel& panel, const PanelLayout& layout) {
  std::vector<Box> boxes;
  for (std::size_t i = 0; i < panel.series.size(); ++i) {
    const Series& series = panel.series[i];
    if (!has_marker_each(series)) continue;
    for (std::size_t j = 0; j < series.points.size(); ++j) {
      const Mark mark = mark_of(i, series, series.points[j], layout);
      const double x = layout.pixel_x(layout.places[i][j].x);
      if (std::isfinite(x + mark.low + mark.high))
        boxes.push_back({x - kMarker / 2, mark.low, x + kMarker / 2, mark.high});
    }
  }
  for (const ReferenceLabel& label : layout.reference_labels) boxes.push_back(label.box);
  return boxes;
}

// Returns boxes for a text of this size next to a marker, the most usual first.
std::vector<Box> label_boxes(Pixel marker, double width, double height) {
  const double gap = kMarker / 2 + 3;
  std::vector<Box> boxes;
  const auto add = [&](double left, double middle) {
    boxes.push_back({left, middle - height / 2, left + width, middle + height / 2});
  };
  for (const double up : {0.0, 0.7, -0.7}) {
    add(marker.x + gap, marker.y + up * height);
    add(marker.x - gap - width, marker.y + up * height);
  }
  for (const double side : {1.0, -1.0})
    for (const double share : {0.5, 0.15, 0.85})
      add(marker.x - share * width, marker.y + side * (gap + height / 2));
  return boxes;
}

}  // namespace

std::vector<std::vector<Place>> places_of(const Panel& panel, const PanelLayout& layout) {
  std::vector<std::vector<Place>> places;
  std::size_t points = 0;
  for (const Series& series : panel.series) {
    std::vector<Place>& own = places.emplace_back();
    for (const Point& point : series.points) own.push_back({point.x, point.y});
    if (has_marker_each(series)) points += series.points.size();
  }
  if (points <= kMostPoints) dodge(panel, layout, places);
  share_rows(panel, places);
  return places;
}

std::vector<Pixel> curve_pixels(const Panel& panel, const PanelLayout& layout) {
  std::vector<Pixel> pixels;
  for (std::size_t i = 0; i < panel.series.size(); ++i) {
    const Series& series = panel.series[i];
    const Draw draw = series.draw;
    const bool steps = draw == Draw::steps || draw == Draw::edge;
    const auto pixel = [&](std::size_t j, double y) {
      return Pixel{layout.pixel_x(layout.places[i][j].x), layout.pixel_y(y)};
    };
    // Adds the line through the points at these heights.
    const auto add_lines = [&](const auto& height_of) {
      for (std::size_t j = 0; j < series.points.size(); ++j) {
        const std::size_t last = j == 0 ? 0 : j - 1;
        const Pixel to = pixel(j, height_of(j)), before = pixel(last, height_of(last));
        const Pixel corner = draw == Draw::bars     ? Pixel{layout.pixel_x(0), to.y}
                             : draw == Draw::points ? to
                             : steps                ? Pixel{to.x, before.y}
                                                    : before;
        if (steps) add_line(pixels, before, corner);
        add_line(pixels, corner, to);
      }
    };
    add_lines([&](std::size_t j) { return layout.places[i][j].y; });
    if (series.spread == Spread::band) {
      add_lines([&](std::size_t j) { return series.points[j].low; });
      add_lines([&](std::size_t j) { return series.points[j].high; });
    }
    for (std::size_t j = 0; series.spread == Spread::bars && j < series.points.size(); ++j)
      add_line(pixels, pixel(j, series.points[j].low), pixel(j, series.points[j].high));
  }
  return pixels;
}

std::vector<PointName> place_names(const Panel& panel, const PanelLayout& layout,
                                   const std::vector<Pixel>& curves) {
  std::vector<Box> covered = covered_boxes(panel, layout);
  std::vector<PointName> names;
  std::set<std::string> written;
  const auto is_free = [&](const Box& box) {
    const Box& plot = layout.plot;
    if (box.left < plot.left + 2 || box.right > plot.right || box.bottom < plot.bottom + 2 ||
        box.top > plot.top)
      return false;
    return std::ranges::none_of(covered, [&](const Box& other) { return overlap(box, other); }) &&
           std::ranges::none_of(curves, [&](const Pixel& pixel) {
             return box.left - 2 < pixel.x && pixel.x < box.right + 2 && box.bottom < pixel.y &&
                    pixel.y < box.top;
           });
  };
  for (std::size_t i = 0; i < panel.series.size(); ++i) {
    const Series& series = panel.series[i];
    for (std::size_t j = 0; series.with_names && j < series.points.size(); ++j) {
      const std::string& name = series.points[j].name;
      const Pixel at{layout.pixel_x(layout.places[i][j].x), layout.pixel_y(layout.places[i][j].y)};
      if (name.empty() || !std::isfinite(at.x + at.y)) continue;
      if (series.draw != Draw::bars && written.contains(name)) continue;
      const std::vector<Box> boxes = label_boxes(at, text_width(name, kNameSize), 1.25 * kNameSize);
      const auto box = std::ranges::find_if(boxes, is_free);
      if (box == boxes.end()) continue;
      covered.push_back(*box);
      written.insert(name);
      names.push_back({name, box->left, (box->bottom + box->top) / 2});
    }
  }
  return names;
}

}  // namespace hone
