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

/// What a model's outputs say about examples, whatever its task: what tables, headlines, gates and choices need to know.
///
///     const TaskEvaluation e = evaluate(outputs, {.task = Task::regression, .targets = scores});
///     e.figure.text, e.value, e.interval, e.baseline   // "R²", 0.81, [0.77, 0.85], 0
namespace hone {

/// What the right answers to examples are.
struct Truth {
  Task task = Task::single_label;
  std::span<const std::int32_t> classes = {};  ///< (examples), of single labels
  std::span<const float> targets = {};         ///< (examples, outputs) of the other tasks
  std::span<const std::int32_t> texts = {};    ///< as in `evidence` (hone/metrics/evidence.h)
  /// Rows that neither training nor choices used, if these are some of all: metrics are also computed on them alone. Empty: all
  /// rows count alike.
  std::span<const std::int64_t> unseen = {};
};

/// The rows of `Truth::unseen` as examples of their own.
class UnseenExamples {
 public:
  explicit UnseenExamples(const Truth& truth);
  /// Refers to this object.
  Truth truth() const;
  /// The outputs for these rows.
  std::vector<float> rows_of(const Logits& outputs) const;

 private:
  Task task_;
  std::vector<std::int64_t> rows_;
  std::vector<std::int32_t> classes_ = {}, texts_ = {};
  std::vector<float> targets_ = {};
};

/// The metric by which the task is judged, on `Truth::unseen`.
struct UnseenMetric {
  double value = 0;
  Interval interval = {};  ///< 95%
  std::int64_t examples = 0;
  double evidence = 1;
};

struct TaskEvaluation {
  MetricName figure = kAccuracy;  ///< by which the task is judged
  double value = 0;               ///< of it; NaN where it is not defined
  Interval interval;              ///< 95%
  double baseline = 0;            ///< the figure of who looks at no text: see `baseline_text`
  std::int64_t examples = 0;
  double evidence = 1;                  ///< of each example, as some repeat others
  std::int64_t without_prediction = 0;  ///< examples with a NaN or an infinity among their outputs
  double loss = 0;                      ///< that of training, without class weights
  std::variant<Evaluation, RegressionEvaluation, MultiLabelEvaluation> figures;  ///< of the task
  std::optional<UnseenMetric> unseen = {};  ///< where `Truth::unseen` has rows

  Task task() const { return static_cast<Task>(figures.index()); }
  /// Of single labels; null of other tasks.
  const Evaluation* classes() const { return std::get_if<Evaluation>(&figures); }
};

/// `outputs` are (examples, outputs), row by row. Throws `UserError` for an answer that the task cannot have.
TaskEvaluation evaluate(const Logits& outputs, const Truth& truth);

/// A constant prediction: "always predicting the most frequent class", "always predicting the mean".
std::string baseline_answer(const MetricName& figure);
/// The same with its score: "always predicting the most frequent class scores 50.1%".
std::string baseline_text(const MetricName& figure, double baseline);
std::string baseline_text(const TaskEvaluation& evaluation);

/// That the metric of the task is not shown to be above that of a constant prediction; empty where it is.
std::string baseline_concern(const TaskEvaluation& evaluation);

/// What has to be known before any figure of the evaluation is looked at, a sentence each. `labels` are the names of the
/// outputs.
std::vector<std::string> concerns(const TaskEvaluation& evaluation,
                                  const std::vector<std::string>& labels);

/// What the figures of an evaluation stand on: "validation, n = 1,072 (effective 850)". What they are to be read with stands
/// behind.
std::string part_text(const std::string& part, const TaskEvaluation& evaluation,
                      std::span<const std::string> cautions = {});

/// A candidate (quantized, pruned, …) against its parent on the same examples.
struct TaskComparison {
  MetricChange change;  ///< of the figure by which the task is judged
  /// Of examples whose answers are counted as right or wrong, where the task has such: with several labels an example is right
  /// where all its answers are, and flips where one of them differs.
  std::optional<Comparison> counted = {};
  double snr_db =
      0;  ///< how well the candidate keeps the parent's outputs: `margin_snr_db`; of several labels all logits;
          ///< of numbers `RegressionComparison::snr_db`
  double mean_shift = 0;         ///< of numbers: `RegressionComparison::mean_shift`
  double answer_flip_share = 0;  ///< of several labels: `MultiLabelComparison::flip_share`
  std::optional<MetricChange> unseen = {};  ///< `change` on `Truth::unseen`, where that has rows
};

TaskComparison compare(const Logits& parent, const Logits& candidate, const Truth& truth);

}  // namespace hone
