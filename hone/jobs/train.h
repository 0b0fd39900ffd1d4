#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hone/jobs/distillation.h"
#include "hone/jobs/fine_tune.h"
#include "hone/jobs/job_data.h"
#include "hone/jobs/job_output.h"
#include "hone/jobs/job_result.h"
#include "hone/models/adapter.h"
#include "hone/models/model_size.h"
#include "hone/models/vocabulary.h"
#include "hone/study/measure.h"
#include "hone/study/result.h"
#include "hone/study/seeds.h"

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
  bool row_hashes = true;  ///< the model remembers what it has learnt from, by fingerprints of rows
  VocabularyRules vocabulary = {};  ///< that fresh weights learn
  JobOutput output;
  Invocation invocation = {};  ///< for the report, the card and the record of the run
};

/// A measurement of one split in results.
struct SplitEvaluationResult {
  EvaluationResult evaluation = {};
  MeasuredSplitResult split = {};
};
/// The result of one seed.
struct TrainFields {
  SubjectResult subject;
  double train_loss = 0, train_runtime = 0, train_samples_per_second = 0;
  double train_steps_per_second = 0;
  std::int64_t train_samples = 0, steps = 0;
  std::optional<bool> loss_fell = {};
  bool ended_early = false;
  std::int64_t weights_of_step = 0;
  std::string protocol;
  std::uint64_t seed = 0;
  std::int64_t seeds = 1;
  std::optional<SplitEvaluationResult> before = {};
  std::optional<bool> before_fresh_head = {};
  std::optional<LearntVocabularyResult> vocabulary = {};
  std::optional<DistillationResult> distill = {};
  std::optional<EvaluationResult::ByName<double>> class_weights = {};
  std::optional<SplitEvaluationResult> validation = {}, test = {};
  std::optional<double> validation_test_gap = {};
  std::optional<Interval> validation_test_gap_interval = {};
  std::optional<AdapterSize> lora = {};
  ModelSize size = {};

  const std::optional<SplitEvaluationResult>& split(std::string_view name) const {
    return name == "validation" ? validation : test;
  }
};
/// One of several seeds.
struct TrainRunResult {
  std::uint64_t seed = 0;
  std::optional<SplitEvaluationResult> validation = {}, test = {};
};
/// The result of several seeds.
struct TrainSeedsFields {
  SubjectResult subject;
  std::string protocol;
  ModelSize size = {};
  std::optional<AdapterSize> lora = {};
  std::optional<LearntVocabularyResult> vocabulary = {};
  std::optional<EvaluationResult::ByName<double>> class_weights = {};
  std::optional<DistillationResult> distill = {};
  std::int64_t seeds = 0;
  std::vector<TrainRunResult> runs = {};
  EvaluationResult::ByName<SeedSpread> metric_spread = {}, loss_spread = {};
};
const Fields& fields_of(const SplitEvaluationResult*);
const Fields& fields_of(const TrainFields*);
const Fields& fields_of(const TrainRunResult*);
const Fields& fields_of(const TrainSeedsFields*);

/// Trains a model on a data set, measures it on the validation and the test part, and writes it with its report into
/// `output`, with one seed or several. Goes on where an interrupted run of the same job stood, where that is wanted.
///
/// Throws `UserError`, as `load_splits`, `fine_tune` and `begin_run` do, and `Interrupted`.
JobResult train_model(const TrainJob& job, Context& context);

}  // namespace hone
