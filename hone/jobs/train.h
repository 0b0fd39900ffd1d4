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

/// How a model is to be trained.
struct TrainJob {
  std::string model;  ///< a folder, or fresh weights: as `open_model` takes it
  JobData data = {};
  FineTuneOptions training = {};  ///< its seed, checkpoints and `save_steps` come from what follows
  /// Options of low-rank adapters, which alone are trained then, with the head, and written (models/adapter.h).
  std::optional<std::string> lora = {};
  DistillJob distill = {};         ///< what the model learns from beside the labels
  std::string report_to = "none";  ///< or "tensorboard"
  /// "regression", …: what the labels are for; empty: as the model's config says, else as they look.
  std::string problem_type = {};
  bool ignore_mismatched_sizes = false;  ///< a trained head for other labels may give way
  JobResume resume = {};
  std::int64_t seeds = 1;  ///< the job is repeated with so many, from `seed` on
  std::uint64_t seed = 42;
  bool row_hashes = true;  ///< the model remembers what it learned from, by fingerprints of rows
  VocabularyRules vocabulary = {};  ///< that fresh weights learn
  JobOutput output;
  Invocation invocation = {};  ///< for the report, the card and the record of the run
};

/// Trains a model on a data set, measures it on the validation and the test part, and writes it with its report into
/// `output`, with one seed or several. Goes on where an interrupted run of the same job stood, where that is wanted.
///
/// Throws `UserError`, as `load_splits`, `fine_tune` and `begin_run` do, and `Interrupted`.
JobResult train_model(const TrainJob& job, Context& context);

}  // namespace hone
