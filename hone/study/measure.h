#pragma once

#include <string>
#include <vector>

#include "hone/base/fields.h"
#include "hone/data/encoded_set.h"
#include "hone/metrics/task_evaluation.h"
#include "hone/metrics/verdict.h"
#include "hone/models/model_source.h"
#include "hone/report/table.h"

namespace hone {

/// A model's outputs and metrics on a dataset.
struct Measurement {
  std::vector<float> logits;  ///< (examples, outputs)
  std::int64_t outputs = 0;
  TaskEvaluation evaluation;
  double seconds = 0;

  Logits view() const { return {logits, outputs}; }
};

/// Runs the model, with its formats, over `data`. `title` names the progress line.
Measurement measure(const Model& model, const EncodedSet& data, std::int64_t batch_size,
                    Context& context, const std::string& title,
                    ProgressEnd end = ProgressEnd::stays);

/// Returns "Accuracy 80.6% (95% CI 79.4 to 81.8) on test, n = 4,000; always predicting the most frequent class scores
/// 50.1%."
std::string metric_headline(const std::string& measured_on, const TaskEvaluation& evaluation);

/// Returns "Without the 203 examples seen in training or used for choices, n = 2,414": the examples of
/// `TaskEvaluation::unseen`.
std::string unseen_text(std::int64_t seen, std::int64_t examples, double evidence);
/// Returns the metric on these: "Without the 203 examples …, n = 2,414: accuracy 74.9% (95% CI 73.1 to 76.6)."; "" if
/// there are none.
std::string unseen_sentence(const TaskEvaluation& evaluation);

/// Returns the metric's name for the start of a sentence: "Accuracy", "R²", "Micro F1".
std::string metric_title(const MetricName& metric);

/// Returns the main metric of an evaluation in results (`eval_metric`).
MetricName main_metric_of(const Json& measurement);
/// Returns its value and interval; NaN if it is not defined.
Estimate metric_estimate(const Json& measurement);
/// Return the constant baseline of an evaluation in results (NaN if it is not defined), and its text.
double constant_baseline_of(const Json& measurement);
std::string constant_baseline_text(const Json& measurement);

/// Metrics of one class, or of one label.
struct ClassResult {
  double precision = 0;
  Interval precision_interval = {};
  double recall = 0;
  Interval recall_interval = {};
  double f1 = 0;
  std::int64_t support = 0, predicted = 0;
};
struct LabelResult {
  ClassResult of_class;
  double auc = 0;
  Interval auc_interval = {};
};
/// Metrics of one output of a regression.
struct OutputResult {
  double r2 = 0, rmse = 0, mae = 0, pearson = 0;
  Interval pearson_interval = {};
  double spearman = 0;
  Interval spearman_interval = {};
};
const Fields& fields_of(const ClassResult*);
const Fields& fields_of(const LabelResult*);
const Fields& fields_of(const OutputResult*);

/// The task's main metric on the examples that neither training nor choices used, in results.
struct UnseenResult {
  std::int64_t samples = 0, effective_samples = 0;
  double value = 0;
  Interval interval = {};
};
const Fields& fields_of(const UnseenResult*);

/// A measurement in results, with the keys of Hugging Face's Trainer: eval_loss, eval_accuracy, … Values that do not
/// apply to the task are null.
struct EvaluationResult {
  template <typename T>
  using ByName = std::vector<std::pair<std::string, T>>;

  MetricName metric = kAccuracy;    ///< the task's main metric
  ByName<double> metrics = {};      ///< of the task, see hone/metrics/metric.h
  ByName<Interval> intervals = {};  ///< of those that have one
  double constant_baseline = 0;     ///< `TaskEvaluation::constant_baseline`
  std::optional<double> majority_share = {}, baseline_rmse = {};
  std::optional<ByName<ClassResult>> classes = {};
  std::optional<std::vector<std::vector<std::int64_t>>> confusion = {};  ///< (labels, predictions)
  std::optional<std::string> only_predicts = {};
  std::optional<ByName<LabelResult>> labels = {};
  std::optional<ByName<OutputResult>> outputs = {};
  std::int64_t without_prediction = 0, samples = 0, effective_samples = 0;
  std::optional<UnseenResult> unseen = {};
  double runtime = 0, samples_per_second = 0;
};
const Fields& fields_of(const EvaluationResult*);
/// `labels` are the names of classes, labels or numbers.
EvaluationResult evaluation_result(const Measurement& measurement,
                                   const std::vector<std::string>& labels);

/// A comparison of two models on the same examples, in results. Values that do not apply to the task are null.
struct ComparisonResult {
  std::optional<std::int64_t> flips = {};
  std::optional<double> flip_share = {};
  std::optional<Interval> flip_interval = {};
  std::optional<std::int64_t> only_baseline_right = {}, only_candidate_right = {};
  std::optional<double> mcnemar_p = {}, label_flip_share = {}, mean_shift = {};
  std::optional<std::int64_t> distinct_examples = {}, differing_examples = {};
  std::optional<double> change_half_width = {};
  double margin_snr_db = 0;
  Verdict verdict = {};
  std::optional<Verdict> unseen = {};
};
const Fields& fields_of(const ComparisonResult*);
ComparisonResult comparison_result(const TaskComparison& comparison, const Verdict& verdict);

}  // namespace hone
