#include "hone/jobs/search/best_history.h"

#include <cmath>

#include "hone/jobs/search/study_tables.h"

namespace hone {

bool BestHistory::has_seconds() const {
  return !by_seconds.points.empty() && std::isfinite(by_seconds.points.back().x);
}

BestHistory history_of(const ShownStudy& study, const std::string& label) {
  BestHistory history;
  history.values = {.label = "a trial", .points = {}, .draw = Draw::points};
  history.by_trial = history.by_seconds = {.label = label, .points = {}, .draw = Draw::steps};
  const Direction direction = study.view.directions[0];
  Point best = {.y = loss_of(std::numeric_limits<double>::infinity(), direction)};
  double seconds = 0;
  for (const Trial* trial : complete_trials(study)) {
    const auto number = static_cast<double>(trial->number);
    const Point point = point_of(study, *trial, number, trial->values[0]);
    history.values.points.push_back(point);
    seconds += seconds_of(*trial);
    if (trial->violation() > 0) continue;
    if (loss_of(point.y, direction) < loss_of(best.y, direction)) best = point;
    best.x = number;
    history.by_trial.points.push_back(best);
    best.x = seconds;
    history.by_seconds.points.push_back(best);
  }
  return history;
}

}  // namespace hone
