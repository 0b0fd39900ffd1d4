#pragma once

#include <optional>
#include <string>

#include "hone/jobs/distillation.h"
#include "hone/jobs/fine_tune.h"
#include "hone/jobs/job_data.h"
#include "hone/jobs/job_output.h"
#include "hone/jobs/job_result.h"
#include "hone/jobs/train_result.h"

namespace hone {

/// A model to train.
struct TrainJob {
  std::string model;  ///< a folder, or fresh weights: see `open_model`
  JobData data = {};
  FineTuneOptions training = {};  ///< seed, checkpoints and `save_steps` are set from below
  /// Options of low-rank adapters. Only these and the head are then trained and written (models/adapter.h).
  std::optional<std::string> lora = {};
  DistillJob distill = {};         ///< teacher of the training
  std::string report_to = "none";  ///< or "tensorboard"
  /// Task of the labels: "regression", …; empty: that of the model's config, or else detected.
  std::string problem_type = {};
  bool ignore_mismatched_sizes = false;  ///< replace a trained head that has other labels
  JobResume resume = {};
  std::int64_t seeds = 1;  ///< repeats the job with this many seeds, from `seed` on
  std::uint64_t seed = 42;
  bool row_hashes = true;           ///< store fingerprints of the training rows with the model
  VocabularyRules vocabulary = {};  ///< to learn for fresh weights
  JobOutput output;
  Invocation invocation = {};  ///< for the report, the model card and the job record
};

/// Trains a model on a dataset, measures it on the validation and test splits, and writes it with a report into
/// `output`, with one or several seeds. With `resume`, continues an interrupted run of the same job.
///
/// Throws `UserError` like `load_splits`, `fine_tune` and `begin_run`, and `Interrupted`.
JobResult train_model(const TrainJob& job, Context& context);

}  // namespace hone
