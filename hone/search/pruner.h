#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "hone/search/trial.h"

/// Pruners end trials whose reports are much worse than those of others. The rules are Optuna's (specified for 3.1 to
/// 5.0).
namespace hone {

struct PruneDecision {
  bool prune = false;
  std::map<std::string, Json> system_attributes = {};  ///< stored in the trial in either case
};

class Pruner {
 public:
  virtual ~Pruner() = default;
  /// Decides about `trial`, which is not in `study`; its last report is that of its largest step. Without reports
  /// nothing is pruned. Studies with several objectives have no pruner.
  virtual PruneDecision decide(const StudyView& study, const Trial& trial) const = 0;
  /// Returns the trials visible to a sampler for a trial with this number (Hyperband: those of its bracket).
  virtual StudyView visible_to(const StudyView& study, std::int64_t number) const;
};

std::unique_ptr<Pruner> no_pruner();

struct PercentilePrunerOptions {
  double percentile = 50;  ///< 50: the median pruner
  std::int64_t startup_trials = 5;
  std::int64_t warmup_steps = 0;
  std::int64_t interval_steps = 1;
  std::int64_t min_trials = 1;
};
std::unique_ptr<Pruner> percentile_pruner(const PercentilePrunerOptions& options);

/// Asynchronous successive halving.
struct SuccessiveHalvingOptions {
  std::int64_t min_resource = 0;  ///< 0: a hundredth of the steps of the first complete trial
  std::int64_t reduction_factor = 4;
  std::int64_t min_early_stopping_rate = 0;
  std::int64_t bootstrap_count = 0;
};
std::unique_ptr<Pruner> successive_halving_pruner(const SuccessiveHalvingOptions& options);

struct HyperbandOptions {
  std::int64_t min_resource = 1;
  std::int64_t max_resource = 0;  ///< 0: one more than the last step of the first complete trial
  std::int64_t reduction_factor = 3;
};
std::unique_ptr<Pruner> hyperband_pruner(const HyperbandOptions& options);

/// Consults `inner` if a trial has not improved by `min_delta` for `patience` steps; without `inner`, prunes then.
std::unique_ptr<Pruner> patient_pruner(std::unique_ptr<Pruner> inner, std::int64_t patience,
                                       double min_delta = 0);

struct ThresholdOptions {
  std::optional<double> lower = {};
  std::optional<double> upper = {};
  std::int64_t warmup_steps = 0;
  std::int64_t interval_steps = 1;
};
std::unique_ptr<Pruner> threshold_pruner(const ThresholdOptions& options);

}  // namespace hone
