#include "hone/search/pruners/reports.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace hone {

double better_of(double a, double b, Direction direction) {
  return direction == Direction::minimize ? std::fmin(a, b) : std::fmax(a, b);
}

bool opens_interval(const Trial& trial, std::int64_t warmup, std::int64_t width) {
  const std::int64_t step = trial.reports.rbegin()->first;
  if (step < warmup) return false;
  const std::int64_t first = (step - warmup) / width * width + warmup;
  return trial.reports.size() == 1 || std::next(trial.reports.rbegin())->first < first;
}

std::optional<std::int64_t> last_step_of_first_complete(const StudyView& study) {
  for (const Trial* trial : study.trials)
    if (trial->state == TrialState::complete && !trial->reports.empty())
      return trial->reports.rbegin()->first;
  return std::nullopt;
}

}  // namespace hone
