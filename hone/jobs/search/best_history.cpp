#include "hone/jobs/search/best_history.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "hone/jobs/search/study_tables.h"
#include "hone/search/engine/trial_table.h"

namespace hone {
namespace {

// Returns the value of a step curve at `x`, which is not before its begin.
double value_by(const std::vector<Point>& steps, double x) {
  return std::prev(std::ranges::upper_bound(steps, x, {}, &Point::x))->y;
}

// NaN: not known.
double cpu_seconds_of(const Trial& trial) {
  const auto attribute = trial.user_attributes.find(kCpuSecondsAttribute);
  const bool known = attribute != trial.user_attributes.end() && attribute->second.is_number();
  return known ? attribute->second.get<double>() : kNoValue;
}

}  // namespace

std::vector<TrialAndBest> trials_with_best(const StudyView& study) {
  const std::set<std::int64_t> run_again = numbers_run_again(study);
  const Direction direction = study.directions.front();
  std::vector<TrialAndBest> way;
  const Trial* best = nullptr;
  for (const Trial* trial : study.trials) {
    if (!is_finished(trial->state) || is_repetition(*trial)) continue;
    if (trial->state == TrialState::fail && run_again.contains(trial->number)) continue;
    const bool counts = trial->state == TrialState::complete && trial->violation() <= 0;
    if (counts && (best == nullptr || loss_of(trial->values.front(), direction) <
                                          loss_of(best->values.front(), direction)))
      best = trial;
    way.push_back({trial, best});
  }
  return way;
}

std::optional<std::int64_t> trials_until(const StudyView& study, double target, double within) {
  // Tolerates rounding: 0.85 - 0.845 is more than 0.005 in doubles.
  const double margin = within + 1e-9 * std::max(1.0, std::abs(target));
  const Direction direction = study.directions.front();
  std::int64_t count = 0;
  for (const TrialAndBest& one : trials_with_best(study)) {
    ++count;
    if (one.best != nullptr &&
        loss_of(one.best->values.front(), direction) <= loss_of(target, direction) + margin)
      return count;
  }
  return std::nullopt;
}

BestHistory history_of(const DescribedStudy& study, const std::string& label,
                       const std::string& metric, TrialPosition place) {
  BestHistory history;
  history.values = {.label = "a trial", .points = {}, .draw = Draw::points};
  history.by_trial = history.by_seconds =
      history.by_cpu_seconds = {.label = label, .points = {}, .draw = Draw::steps};
  double seconds = 0, cpu_seconds = 0, count = 0;
  for (const TrialAndBest& one : trials_with_best(study.view)) {
    ++count;
    const double x = place == TrialPosition::number
                         ? static_cast<double>(shown_number(one.trial->number))
                         : count;
    seconds += seconds_of(*one.trial);
    cpu_seconds += cpu_seconds_of(*one.trial);
    const double value = trial_value(*one.trial, metric);
    if (one.trial->state == TrialState::complete && !std::isnan(value))
      history.values.points.push_back(point_of(study, *one.trial, x, value, /*with_values=*/true));
    if (one.best == nullptr) continue;
    const double best = trial_value(*one.best, metric);
    if (std::isnan(best)) continue;
    history.by_trial.points.push_back(point_of(study, *one.best, x, best, is_small(study)));
    history.by_seconds.points.push_back(point_of(study, *one.best, seconds, best, is_small(study)));
    history.by_cpu_seconds.points.push_back(
        point_of(study, *one.best, cpu_seconds, best, is_small(study)));
  }
  if (!std::isfinite(seconds)) history.by_seconds.points.clear();
  if (!std::isfinite(cpu_seconds)) history.by_cpu_seconds.points.clear();
  return history;
}

Series band_of(const std::vector<Series>& curves, const std::string& label,
               double (*middle)(std::vector<double>), const std::string& detail) {
  double begin = -std::numeric_limits<double>::infinity();
  std::set<double> places;
  for (const Series& curve : curves) {
    if (curve.points.empty()) return {.label = label};
    begin = std::max(begin, curve.points.front().x);
    for (const Point& point : curve.points) places.insert(point.x);
  }
  Series band{.label = label, .points = {}, .draw = Draw::steps, .spread = Spread::band};
  for (const double x : places) {
    if (x < begin) continue;
    std::vector<double> values;
    for (const Series& curve : curves) values.push_back(value_by(curve.points, x));
    const auto [low, high] = std::ranges::minmax(values);
    band.points.push_back(
        {.x = x, .y = middle(values), .low = low, .high = high, .detail = detail});
  }
  return band;
}

}  // namespace hone
