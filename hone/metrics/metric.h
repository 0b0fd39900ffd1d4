#pragma once

#include <string_view>
#include <vector>

#include "hone/metrics/task_evaluation.h"

namespace hone {

/// A figure of an evaluation by its name: "accuracy", "f1_macro", "r2". A new one is a row of its task's table.
struct Metric {
  std::string_view name;
  std::string_view text;  ///< in sentences: "macro F1"
  double (*value)(
      const TaskEvaluation&);  ///< of an evaluation of its task; NaN where it is not defined
  bool greater_is_better = true;
  bool of_two_classes =
      false;  ///< not defined for more; precision, recall and f1 are then of class 1
  /// What each example adds to it, linearised: (examples), of outputs (examples, outputs). They add up to 0, and are NaN where
  /// it is not defined. Null where it follows from counts (`compute_from_counts`, `LabelTally`).
  std::vector<double> (*parts)(const Logits&, const Truth&) = nullptr;
};

/// All of a task, the one it is judged by first, then its loss.
const std::vector<Metric>& metrics(Task task);

/// The names of all tasks' metrics, each once.
std::vector<std::string> metric_names();

/// The task's metric of this name; null where it has none.
const Metric* metric_called(Task task, std::string_view name);

/// The task's metric called so, with or without Hugging Face's "eval_" in front. Throws `UserError` that lists them for an unknown
/// one, and says of which task it is where it is another's.
const Metric& find_metric(Task task, std::string_view name);

/// Whether `value` is better than `best`. What is no number is never better, and any number is better than that.
bool is_better(const Metric& metric, double value, double best);

}  // namespace hone
