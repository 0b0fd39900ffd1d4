#include "hone/jobs/shrink/shrink_figures.h"

#include <algorithm>
#include <functional>
#include <limits>

namespace hone {
namespace {

Point point_of(const JudgedPoint& one, double x, double scale) {
  return {x,
          scale * one.figure,
          scale * one.figure_interval.low,
          scale * one.figure_interval.high,
          fmt::format("trial {}", one.trial),
          one.step};
}

// From the smallest on, each better than all that are smaller.
Series front_of(const std::vector<Point>& points) {
  std::vector<Point> sorted = points;
  std::ranges::stable_sort(sorted, {}, &Point::x);
  Series front{.label = "Pareto front", .draw = Draw::edge};
  double best = -std::numeric_limits<double>::infinity();
  for (const Point& point : sorted) {
    if (point.y <= best) continue;
    best = point.y;
    front.points.push_back({point.x, point.y});
  }
  return front;
}

// One interval stands for all, which are much alike: more of them would push points aside.
Panel panel_of(const ShrinkFindings& f, const std::string& x_label, double original_x,
               const std::function<double(const JudgedPoint&)>& x_of) {
  const TaskEvaluation& original = f.subject.parent_measured->evaluation;
  const bool share = !original.figure.may_be_negative;
  const double scale = share ? 100 : 1;
  Series given{.label = "as it was given", .draw = Draw::points, .spread = Spread::bars},
      kept{.label = "shown to be kept", .draw = Draw::points},
      unclear{.label = "not shown", .draw = Draw::points},
      lost{.label = "shown to be lost", .draw = Draw::points},
      chosen{.label = "chosen", .draw = Draw::points};
  given.points.push_back({original_x, scale * original.value, scale * original.interval.low,
                          scale * original.interval.high, "as it was given"});
  std::vector<Point> all = given.points;
  for (std::size_t i = 0; i < f.points.size(); ++i) {
    const JudgedPoint& one = f.points[i];
    if (!one.failure.empty()) continue;
    Series& series = f.chosen == i                        ? chosen
                     : one.conclusion == Conclusion::kept ? kept
                     : one.conclusion == Conclusion::lost ? lost
                                                          : unclear;
    series.points.push_back(point_of(one, x_of(one), scale));
    all.push_back(series.points.back());
  }
  Panel panel{
      .x = {.label = x_label},
      .y = {.label = fmt::format("{}{}", figure_title(original.figure), share ? " (%)" : "")}};
  for (const Series& series :
       {std::ref(given), std::ref(kept), std::ref(unclear), std::ref(lost), std::ref(chosen)})
    if (!series.points.empty()) panel.series.push_back(series);
  panel.series.push_back(front_of(all));
  return panel;
}

}  // namespace

Figure tried_figure(const ShrinkFindings& f) {
  constexpr double kMiB = 1024 * 1024;
  const auto original = static_cast<double>(f.timer.original_bytes());
  Figure figure{.title = fmt::format("What was tried, on {}",
                                     name_and_size(f.subject.data.measured_choice())),
                .width = 1000};
  figure.panels = {
      panel_of(f, "Weights (MiB)", original / kMiB,
               [&](const JudgedPoint& one) { return static_cast<double>(one.bytes) / kMiB; }),
      panel_of(f, fmt::format("Milliseconds for a text, {} at a time", f.timer.at_a_time()),
               f.timer.ms(), [](const JudgedPoint& one) { return one.ms; })};
  return figure;
}

}  // namespace hone
