#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "hone/metrics/metric_name.h"
#include "hone/metrics/task.h"
#include "hone/metrics/task_evaluation.h"

/// Limits on how far metrics of a compressed model may fall below those of its baseline.
///
///     Gate gate = parse_gate("recall(legal)>=-2", scheme);
///     gate.metric.text, gate.margin   // "recall of legal", 0.02
namespace hone {

/// A limit on the loss of a metric, over all examples or of one class.
struct Gate {
  MetricName
      metric;  ///< key "recall(legal)", text "recall of legal"; without a class "f1_macro", "macro F1"
  std::string
      base_metric;  ///< its name in `metrics(task)`; for a class "precision", "recall" or "f1"
  std::optional<std::int64_t> of_class = {};  ///< or label; none: all
  std::string class_name = {};                ///< empty: all classes
  double margin = 0;  ///< a share: 0.02 for ">=-2"; negative if the metric must rise
  std::string text;   ///< as given
};

/// Throws `UserError` with the expected syntax unless `text` is `metric>=-points` or `metric(class)>=-points` with a
/// metric of any task. Does not check the class. A point is 0.01; spaces and quotes around the class are allowed.
void check_gate_syntax(std::string_view text);

/// Returns the gate that `text` describes. `macro_f1` means `f1_macro`. With two classes, `recall` alone is that of
/// class 1, as are precision and f1. Throws `UserError` for another syntax, for a metric or class that the task does
/// not have, and for metrics where lower is better, which are not counted in points.
Gate parse_gate(std::string_view text, const LabelScheme& scheme);

/// Returns the value that a gate judges in an evaluation of its task; NaN if it is not defined.
double gated_value(const Gate& gate, const TaskEvaluation& evaluation);

}  // namespace hone
