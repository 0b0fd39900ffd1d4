#include <algorithm>
#include <cmath>
#include <limits>

#include "hone/base/error.h"
#include "hone/search/pruner.h"
#include "hone/search/pruners/reports.h"

namespace hone {
namespace {

constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();

// As in numpy: interpolates between the two adjacent order statistics, starting from the nearer one.
double percentile_of(std::vector<double> values, double percentile) {
  std::erase_if(values, [](double value) { return std::isnan(value); });
  if (values.empty()) return kNothing;
  std::sort(values.begin(), values.end());
  const double place = static_cast<double>(values.size() - 1) * (percentile / 100);
  const auto below = static_cast<std::size_t>(place);
  const double a = values[below], b = values[std::min(below + 1, values.size() - 1)];
  const double share = place - static_cast<double>(below);
  return share < 0.5 ? a + (b - a) * share : b - (b - a) * (1 - share);
}

class PercentilePruner : public Pruner {
 public:
  explicit PercentilePruner(const PercentilePrunerOptions& options) : options_(options) {}

  PruneDecision decide(const StudyView& study, const Trial& trial) const override {
    if (trial.reports.empty()) return {};
    const std::int64_t step = trial.reports.rbegin()->first;
    const Direction direction = study.directions[0];
    std::int64_t complete = 0;
    std::vector<double> others;
    for (const Trial* other : study.trials) {
      if (other->state != TrialState::complete) continue;
      ++complete;
      if (const auto report = other->reports.find(step); report != other->reports.end())
        others.push_back(report->second);
    }
    if (complete == 0 || complete < options_.startup_trials) return {};
    if (!opens_interval(trial, options_.warmup_steps, options_.interval_steps)) return {};
    double best = kNothing;
    for (const auto& [own_step, value] : trial.reports) best = better_of(best, value, direction);
    if (std::isnan(best)) return {.prune = true};
    if (static_cast<std::int64_t>(others.size()) < options_.min_trials) return {};
    const bool down = direction == Direction::minimize;
    const double limit =
        percentile_of(others, down ? options_.percentile : 100 - options_.percentile);
    // False if there is no limit (NaN).
    return {.prune = down ? best > limit : best < limit};
  }

 private:
  PercentilePrunerOptions options_;
};

}  // namespace

std::unique_ptr<Pruner> percentile_pruner(const PercentilePrunerOptions& options) {
  user_check(options.percentile >= 0 && options.percentile <= 100,
             "a pruner by percentile {}: expected 0 to 100", options.percentile);
  user_check(options.startup_trials >= 0 && options.warmup_steps >= 0,
             "a pruner by percentile that waits for {} trials and {} steps: expected 0 or more",
             options.startup_trials, options.warmup_steps);
  user_check(options.interval_steps >= 1 && options.min_trials >= 1,
             "a pruner by percentile every {} steps, beside {} trials: expected 1 or more",
             options.interval_steps, options.min_trials);
  return std::make_unique<PercentilePruner>(options);
}

}  // namespace hone
