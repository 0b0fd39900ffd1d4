#pragma once

#include <optional>

#include "hone/jobs/fine_tune.h"
#include "hone/passes/prune.h"
#include "hone/train/calibration.h"

namespace hone {

/// Options of pruning, and of training after or during it.
struct SparsifyOptions {
  PruneOptions pruning = {};               ///< for weights
  std::optional<double> activations = {};  ///< share of the pruned layers' inputs to set to zero
  CalibrationRun calibration = {};  ///< for `activations`, and for methods that need examples
  bool trains = false;
  bool cubic = false;  ///< sparsity rises during training (hone/train/sparsity_schedule.h)
  double rise = 0.5;   ///< share of all training steps at which the rise ends
  FineTuneOptions fine_tune = {};
};

/// Throws `UsageError` for options that cannot be combined, and as `check` of the pruning rule does.
void check(const SparsifyOptions& options);

/// Returns a copy of `baseline` whose pruned weights are 0; `round_weights` makes the copy to save. With
/// `activations`, it has thresholds in front of the inputs of the pruned layers, calibrated on `data.train` before any
/// training. Methods that need examples score the weights of `baseline`. Throws `UserError` as `check`, `prune`,
/// `prune_inputs` and `fine_tune` do, for frozen weights that `movement` has to score, and before training as
/// `round_weights` does.
Model sparsify(const Model& baseline, const EncodedSplits& data, const SparsifyOptions& options,
               TrainingLog& log, Context& context);

/// "pruned 50.0%, l1, local", "pruned 2:4, l1; activations 30.0%".
std::string summary(const SparsifyOptions& options);

/// Returns the rows of `data.train` that the thresholds and the method are calibrated on.
std::vector<std::int64_t> calibration_rows(const EncodedSplits& data,
                                           const SparsifyOptions& options);

}  // namespace hone
