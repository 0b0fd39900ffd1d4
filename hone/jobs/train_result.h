#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hone/jobs/distillation.h"
#include "hone/models/adapter.h"
#include "hone/models/model_size.h"
#include "hone/models/vocabulary.h"
#include "hone/study/measure.h"
#include "hone/study/result.h"
#include "hone/study/seeds.h"

/// The JSON results of a training.
namespace hone {

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
  std::optional<std::int64_t> best_step = {};  ///< of the evaluations; empty: there was none
  std::optional<double> best_value = {};
  std::string protocol;
  std::uint64_t seed = 0;
  std::int64_t seeds = 1;
  std::optional<SplitEvaluationResult> before = {};
  std::optional<bool> before_fresh_head = {};
  std::optional<LearnedVocabularyResult> vocabulary = {};
  std::optional<DistillationResult> distill = {};
  std::optional<EvaluationResult::ByName<double>> class_weights = {};
  std::optional<SplitEvaluationResult> validation = {}, test = {};
  std::optional<double> validation_test_gap = {};
  std::optional<Interval> validation_test_gap_interval = {};
  std::optional<AdapterSize> lora = {};
  ModelSize size = {};
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
  std::optional<LearnedVocabularyResult> vocabulary = {};
  std::optional<EvaluationResult::ByName<double>> class_weights = {};
  std::optional<DistillationResult> distill = {};
  std::int64_t seeds = 0;
  std::vector<TrainRunResult> runs = {};
  SeedSpreads spreads = {};
};
const Fields& fields_of(const SplitEvaluationResult*);
const Fields& fields_of(const TrainFields*);
const Fields& fields_of(const TrainRunResult*);
const Fields& fields_of(const TrainSeedsFields*);

/// Combines the results of the seeds, `TrainFields` as JSON.
TrainSeedsFields train_seeds_fields(SubjectResult subject, const std::vector<Json>& results);

}  // namespace hone
