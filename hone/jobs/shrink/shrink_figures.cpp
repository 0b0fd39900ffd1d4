#include "hone/jobs/shrink/shrink_figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace hone {
namespace {

// Returns the change of the metric in points.
Point point_of(const JudgedCandidate& one, double x) {
  const CandidateMeasurement& measured = *one.measured;
  return {x,
          100 * measured.change,
          100 * measured.change_interval.low,
          100 * measured.change_interval.high,
          fmt::format("{}", one.number),
          one.recipe};
}

// Returns the points that are better than all smaller ones.
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

// Plots what decides: the intervals of the change, and the limit.
Panel panel_of(const ShrinkFindings& f, const std::string& x_label, double original_x,
               double ShrinkShares::*share) {
  const auto judged = [](const char* label) {
    return Series{.label = label, .draw = Draw::points, .spread = Spread::bars, .with_names = true};
  };
  Series given{.label = "baseline", .points = {{original_x, 0}}, .draw = Draw::points};
  Series kept = judged("within limit"), unclear = judged("inconclusive"),
         lost = judged("exceeds limit"), chosen = judged(f.proven ? "chosen" : "most promising");
  std::vector<Point> all = given.points;
  for (const JudgedCandidate& one : f.points) {
    if (!one.measured) continue;
    const Conclusion conclusion = one.measured->conclusion;
    Series& series = one.chosen                                ? chosen
                     : conclusion == Conclusion::within_limit  ? kept
                     : conclusion == Conclusion::exceeds_limit ? lost
                                                               : unclear;
    series.points.push_back(point_of(one, original_x * one.measured->shares.*share));
    all.push_back(series.points.back());
  }
  const std::string_view figure = f.subject.baseline_measured->evaluation.metric.text;
  Panel panel{.x = {.label = x_label},
              .y = {.label = fmt::format("Change of {} (points), 95% CI", figure)}};
  panel.references.push_back(
      {-100 * f.margin(), fmt::format("limit: -{:g} points", 100 * f.margin())});
  for (Series* const series : {&given, &kept, &unclear, &lost, &chosen})
    if (!series->points.empty()) panel.series.push_back(std::move(*series));
  if (Series front = front_of(all); front.points.size() > 1)
    panel.series.push_back(std::move(front));
  return panel;
}

}  // namespace

Figure candidates_figure(const ShrinkFindings& f) {
  constexpr double kMiB = 1024 * 1024;
  const auto original = static_cast<double>(f.timer.original_bytes());
  Figure figure{
      .title = fmt::format("Candidates on {}", name_and_size(f.subject.data.measured_choice())),
      .width = 1000};
  figure.panels = {
      panel_of(f, "Size (MiB)", original / kMiB, &ShrinkShares::bytes),
      panel_of(f, fmt::format("Latency per example, batch size {} (ms)", f.timer.batch_size()),
               f.timer.ms(), &ShrinkShares::batch_latency)};
  return figure;
}

}  // namespace hone
