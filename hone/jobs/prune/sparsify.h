#pragma once

#include <optional>

#include "hone/jobs/fine_tune.h"
#include "hone/passes/prune.h"
#include "hone/train/calibration.h"

namespace hone {

/// How a model is pruned, and trained afterwards.
struct SparsifyOptions {
  PruneOptions pruning = {};               ///< of weights
  std::optional<double> activations = {};  ///< share of what the pruned layers read that goes
  CalibrationRun calibration = {};         ///< of `activations`, and of methods that need examples
  bool trains = false;
  bool cubic = false;  ///< sparsity rises while it trains (hone/train/sparsity_schedule.h)
  double rise = 0.5;   ///< over the first so much of the training, after its warm-up
  FineTuneOptions fine_tune = {};
};

/// Throws `UserError` for options that do not go together.
void check(const SparsifyOptions& options);

/// A pruned copy of `parent`, with thresholds in front of what the pruned layers read where activations go, taken from
/// `data.train` before any training. Weights that were pruned are 0 in it; `round_weights` makes the copy that is saved. What a
/// method reads from examples, it reads before training, of the parent. Throws `UserError` as `check`, `prune`, `prune_inputs`,
/// `fine_tune`, for frozen weights that `movement` is to score, and before training as `round_weights`.
Model sparsify(const Model& parent, const EncodedSplits& data, const SparsifyOptions& options,
               TrainingLog& log, Context& context);

/// "pruned 50.0%, l1, local", "pruned 2:4, l1; activations 30.0%".
std::string summary(const SparsifyOptions& options);

/// The rows of `data.train` that thresholds are taken from, and that the method reads.
std::vector<std::int64_t> calibration_rows(const EncodedSplits& data,
                                           const SparsifyOptions& options);

}  // namespace hone
