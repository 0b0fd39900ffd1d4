#pragma once

#include <string_view>
#include <vector>

#include "hone/metrics/task_evaluation.h"

namespace hone {

/// A metric of an evaluation by name: "accuracy", "f1_macro", "r2". To add one, add a row to its task's table.
struct Metric {
  std::string_view name;
  std::string_view text;  ///< in sentences: "macro F1"
  double (*value)(
      const TaskEvaluation&);  ///< of an evaluation of its task; NaN if it is not defined
  bool greater_is_better = true;
  bool of_two_classes =
      false;  ///< not defined for more; precision, recall and f1 are then those of class 1
  /// Returns the contribution of each example, linearised: (examples), from outputs (examples, outputs). They sum to 0,
  /// and are NaN if the metric is not defined. Null for metrics that follow from counts (`compute_from_counts`,
  /// `LabelTally`).
  std::vector<double> (*contributions)(const Logits&, const Truth&) = nullptr;
};

/// Returns the metrics of a task, its main one first, then its loss.
const std::vector<Metric>& metrics(Task task);

/// Returns the names of all tasks' metrics, each once.
std::vector<std::string> metric_names();

/// Returns the task's metric of this name; null if it has none.
const Metric* metric_called(Task task, std::string_view name);

/// Returns the task's metric of this name, with or without Hugging Face's prefix "eval_". Throws `UserError` for an
/// unknown one, which lists the known ones or says which task has it.
const Metric& find_metric(Task task, std::string_view name);

/// Returns whether `value` is better than `best`. NaN is never better, and any number is better than NaN.
bool is_better(const Metric& metric, double value, double best);

}  // namespace hone
