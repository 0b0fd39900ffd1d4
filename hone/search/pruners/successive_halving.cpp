#include <algorithm>
#include <cmath>

#include "hone/base/error.h"
#include "hone/search/pruner.h"
#include "hone/search/pruners/reports.h"
#include "hone/search/pruners/rungs.h"

namespace hone {
namespace {

class SuccessiveHalvingPruner : public Pruner {
 public:
  explicit SuccessiveHalvingPruner(const SuccessiveHalvingOptions& options) : options_(options) {}

  PruneDecision decide(const StudyView& study, const Trial& trial) const override {
    PruneDecision decision;
    const std::int64_t resource = min_resource(study);
    if (trial.reports.empty() || resource == 0) return decision;
    const auto [step, value] = *trial.reports.rbegin();
    for (std::int64_t rung = rungs_reached(trial);; ++rung) {
      if (static_cast<double>(step) < steps_of_rung(resource, rung)) return decision;
      if (!std::isnan(value)) decision.system_attributes[rung_key(rung)] = value;
      if (std::isnan(value) || !goes_on(study, rung, value)) {
        decision.prune = true;
        return decision;
      }
    }
  }

 private:
  // 0: not known yet.
  std::int64_t min_resource(const StudyView& study) const {
    if (options_.min_resource > 0) return options_.min_resource;
    const auto last = last_step_of_first_complete(study);
    return last ? std::max<std::int64_t>(*last / 100, 1) : 0;
  }

  double steps_of_rung(std::int64_t resource, std::int64_t rung) const {
    return static_cast<double>(resource) *
           std::pow(static_cast<double>(options_.reduction_factor),
                    static_cast<double>(options_.min_early_stopping_rate + rung));
  }

  // Returns whether a value is among the best of its rung; with fewer than `reduction_factor` values only the best is.
  bool goes_on(const StudyView& study, std::int64_t rung, double value) const {
    std::int64_t count = 1, better = 0;
    const Direction direction = study.directions[0];
    for (const Trial* other : study.trials)
      if (const auto theirs = rung_value(*other, rung)) {
        ++count;
        if (loss_of(*theirs, direction) < loss_of(value, direction)) ++better;
      }
    if (count <= options_.bootstrap_count) return false;
    return better < std::max<std::int64_t>(count / options_.reduction_factor, 1);
  }

  SuccessiveHalvingOptions options_;
};

}  // namespace

std::unique_ptr<Pruner> successive_halving_pruner(const SuccessiveHalvingOptions& options) {
  user_check(
      options.min_resource >= 0 && options.min_early_stopping_rate >= 0 &&
          options.bootstrap_count >= 0,
      "successive halving from {} steps, {} rungs later, after {} trials: expected 0 or more",
      options.min_resource, options.min_early_stopping_rate, options.bootstrap_count);
  user_check(options.reduction_factor >= 2, "successive halving by {}: expected 2 or more",
             options.reduction_factor);
  user_check(options.bootstrap_count == 0 || options.min_resource > 0,
             "successive halving that waits for {} trials at its first rung needs "
             "`min_resource`: without it, a complete trial sets the first rung",
             options.bootstrap_count);
  return std::make_unique<SuccessiveHalvingPruner>(options);
}

}  // namespace hone
