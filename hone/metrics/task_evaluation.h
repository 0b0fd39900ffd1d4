#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "hone/metrics/classification.h"
#include "hone/metrics/metric_change.h"
#include "hone/metrics/multi_label.h"
#include "hone/metrics/regression.h"
#include "hone/metrics/task.h"

/// Evaluation of a model's outputs for any task, as tables, headlines, gates and choices need it.
///
///     const TaskEvaluation e = evaluate(outputs, {.task = Task::regression, .targets = scores});
///     e.metric.text, e.value, e.interval, e.constant_baseline   // "R²", 0.81, [0.77, 0.85], 0
namespace hone {

/// The targets of examples.
struct Truth {
  Task task = Task::single_label;
  std::span<const std::int32_t> classes = {};  ///< (examples), for single labels
  std::span<const float> targets = {};         ///< (examples, outputs), for the other tasks
  std::span<const std::int32_t> texts = {};    ///< as in `evidence` (hone/metrics/evidence.h)
  /// Rows that neither training nor choices used, if they are only some of all: metrics are also computed on them
  /// alone. Empty: no such distinction.
  std::span<const std::int64_t> unseen = {};
};

/// The rows of `Truth::unseen` as examples of their own.
class UnseenExamples {
 public:
  explicit UnseenExamples(const Truth& truth);
  /// Returns a view of this object.
  Truth truth() const;
  /// Returns the outputs for these rows.
  std::vector<float> rows_of(const Logits& outputs) const;

 private:
  Task task_;
  std::vector<std::int64_t> rows_;
  std::vector<std::int32_t> classes_ = {}, texts_ = {};
  std::vector<float> targets_ = {};
};

/// The task's main metric on `Truth::unseen`.
struct UnseenMetric {
  double value = 0;
  Interval interval = {};  ///< 95%
  std::int64_t examples = 0;
  double evidence = 1;
};

struct TaskEvaluation {
  MetricName metric = kAccuracy;  ///< the task's main metric
  double value = 0;               ///< of it; NaN if it is not defined
  Interval interval;              ///< 95%
  double constant_baseline =
      0;  ///< the metric of a constant prediction, see `constant_baseline_text`
  std::int64_t examples = 0;
  double evidence = 1;                  ///< of each example, below 1 if some repeat others
  std::int64_t without_prediction = 0;  ///< examples with a NaN or an infinity among their outputs
  double loss = 0;                      ///< that of training, without class weights
  std::variant<Evaluation, RegressionEvaluation, MultiLabelEvaluation> details;  ///< of the task
  std::optional<UnseenMetric> unseen = {};  ///< if `Truth::unseen` has rows

  Task task() const { return static_cast<Task>(details.index()); }
  /// Returns the evaluation of single labels; null for other tasks.
  const Evaluation* classes() const { return std::get_if<Evaluation>(&details); }
};

/// Evaluates `outputs`, (examples, outputs), row by row. Throws `UserError` for a target that the task cannot have.
TaskEvaluation evaluate(const Logits& outputs, const Truth& truth);

/// Returns a constant prediction: "always predicting the most frequent class", "always predicting the mean".
std::string constant_prediction_text(const MetricName& metric);
/// Returns the same with its score: "always predicting the most frequent class scores 50.1%".
std::string constant_baseline_text(const MetricName& metric, double constant_baseline);
std::string constant_baseline_text(const TaskEvaluation& evaluation);

/// Returns the warning that the metric of the task is not shown to be above that of a constant prediction; empty if it
/// is.
std::string constant_baseline_concern(const TaskEvaluation& evaluation);

/// Returns warnings about the evaluation, a sentence each. `labels` are the names of the outputs.
std::vector<std::string> concerns(const TaskEvaluation& evaluation,
                                  const std::vector<std::string>& labels);

/// Returns the split and sample size of an evaluation: "validation, n = 1,072 (effective 850)". The cautions follow.
std::string split_text(const std::string& split, const TaskEvaluation& evaluation,
                       std::span<const std::string> cautions = {});

/// A comparison of a candidate (quantized, pruned, …) with its baseline on the same examples.
struct TaskComparison {
  MetricChange change;  ///< of the task's main metric
  /// Counts of right and wrong examples, if the task has such: with several labels an example is right if all its
  /// labels are, and flips if one of them differs.
  std::optional<Comparison> counted = {};
  double snr_db =
      0;  ///< how well the candidate preserves the baseline's outputs: `margin_snr_db`; for multiple labels of all
          ///< logits; for regression `RegressionComparison::snr_db`
  double mean_shift = 0;        ///< for regression: `RegressionComparison::mean_shift`
  double label_flip_share = 0;  ///< for multiple labels: `MultiLabelComparison::flip_share`
  std::optional<MetricChange> unseen = {};  ///< `change` on `Truth::unseen`, if that has rows
};

TaskComparison compare(const Logits& baseline, const Logits& candidate, const Truth& truth);

}  // namespace hone
