#include "hone/report/figure_points.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "hone/report/html_text.h"

namespace hone {
namespace {

constexpr std::size_t kMostOfALine = 400;

bool has_description(const Point& point) { return !point.name.empty() || !point.detail.empty(); }

// Returns n to describe every n-th point of a series; 0: none.
std::size_t interval_of(const Series& series) {
  const std::size_t points = series.points.size();
  const bool all_marked =
      series.draw == Draw::curve || series.draw == Draw::points || series.draw == Draw::bars;
  if (all_marked || std::ranges::any_of(series.points, has_description)) return 1;
  if (series.draw == Draw::faint || series.draw == Draw::edge) return 0;
  return (points + kMostOfALine - 1) / kMostOfALine;
}

bool is_within(double value, double low, double high) {
  constexpr double kSlack = 0.5;  // of a pixel
  return low - kSlack <= value && value <= high + kSlack;
}

std::string value_on(const Axis& axis, double value) {
  const auto named = std::ranges::find(axis.ticks, value, &Tick::value);
  if (named != axis.ticks.end() && !named->label.empty()) return named->label;
  return fmt::format("{:.5g}", value);
}

}  // namespace

std::string point_text(const Panel& panel, const Series& series, const Point& point) {
  std::string text = series.label;
  const auto add = [&](std::string_view separator, const std::string& part) {
    if (part.empty()) return;
    text += text.empty() ? part : fmt::format("{}{}", separator, part);
  };
  add(", ", point.name);
  std::string values;
  for (const auto& [axis, value] : {std::pair{&panel.x, point.x}, {&panel.y, point.y}})
    if (!axis->label.empty())
      values +=
          fmt::format("{}{} {}", values.empty() ? "" : ", ", axis->label, value_on(*axis, value));
  if (!values.empty() && std::isfinite(point.low) && std::isfinite(point.high))
    values += fmt::format(" ({:.5g} to {:.5g})", point.low, point.high);
  add(": ", values);
  add("; ", point.detail);
  return text;
}

std::string points_svg(const Figure& figure, const FigureLayout& layout) {
  std::string svg;
  for (std::size_t i = 0; i < figure.panels.size(); ++i) {
    const Panel& panel = figure.panels[i];
    const PanelLayout& places = layout.panels[i];
    for (std::size_t j = 0; j < panel.series.size(); ++j) {
      const Series& series = panel.series[j];
      const std::size_t interval = interval_of(series);
      std::string circles;
      for (std::size_t k = 0; interval > 0 && k < series.points.size(); k += interval) {
        const Place& place = places.places[j][k];
        const double x = places.pixel_x(place.x), y = places.pixel_y(place.y);
        if (!is_within(x, places.plot.left, places.plot.right) ||
            !is_within(y, places.plot.bottom, places.plot.top))
          continue;
        circles += fmt::format(
            "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"5\"><title>{}</title></circle>\n", x,
            figure.height - y, html_text(point_text(panel, series, series.points[k])));
      }
      if (!circles.empty())
        svg += fmt::format("<g class=\"points\" fill=\"transparent\">\n{}</g>\n", circles);
    }
  }
  return svg;
}

}  // namespace hone
