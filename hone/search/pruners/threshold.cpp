#include <cmath>

#include "hone/base/error.h"
#include "hone/search/pruner.h"
#include "hone/search/pruners/reports.h"

namespace hone {
namespace {

class ThresholdPruner : public Pruner {
 public:
  explicit ThresholdPruner(const ThresholdOptions& options) : options_(options) {}

  PruneDecision decide(const StudyView&, const Trial& trial) const override {
    if (trial.reports.empty() ||
        !opens_interval(trial, options_.warmup_steps, options_.interval_steps))
      return {};
    const double value = trial.reports.rbegin()->second;
    return {.prune = std::isnan(value) || (options_.lower && value < *options_.lower) ||
                     (options_.upper && value > *options_.upper)};
  }

 private:
  ThresholdOptions options_;
};

}  // namespace

std::unique_ptr<Pruner> threshold_pruner(const ThresholdOptions& options) {
  user_check(options.lower || options.upper,
             "a pruner by thresholds has none: give `lower` or `upper`");
  user_check(!options.lower || !options.upper || *options.lower <= *options.upper,
             "thresholds of {} and {}: expected the lower one first", options.lower.value_or(0),
             options.upper.value_or(0));
  user_check(options.warmup_steps >= 0 && options.interval_steps >= 1,
             "a pruner by thresholds after {} steps, every {}: expected 0 or more, and 1 or more",
             options.warmup_steps, options.interval_steps);
  return std::make_unique<ThresholdPruner>(options);
}

}  // namespace hone
