#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "hone/metrics/metric_name.h"
#include "hone/metrics/task.h"
#include "hone/metrics/task_evaluation.h"

/// Which metrics of a compressed model may fall against its parent's, and by how much.
///
///     Gate gate = parse_gate("recall(legal)>=-2", scheme);
///     gate.figure.text, gate.margin   // "recall of legal", 0.02
namespace hone {

/// A metric, of the whole or of one class, and how much of it may be lost.
struct Gate {
  MetricName
      figure;  ///< key "recall(legal)", text "recall of legal"; of the whole: "f1_macro", "macro F1"
  std::string metric;  ///< its name in `metrics(task)`; of a class "precision", "recall" or "f1"
  std::optional<std::int64_t> of_class = {};  ///< or label; nothing: of the whole
  std::string class_name = {};                ///< empty: of the whole
  double margin = 0;  ///< a share: 0.02 for ">=-2"; negative where the metric has to rise
  std::string text;   ///< as it was typed
};

/// Throws `UserError` with what is expected unless `text` reads `metric>=-points` or `metric(class)>=-points` with a metric of any
/// task, whatever classes there are. A point is 0.01; spaces and quotes around the class are allowed.
void check_gate_syntax(std::string_view text);

/// The gate that `text` describes. `macro_f1` is `f1_macro`; `recall` alone is of class 1 where there are two classes, as
/// are precision and f1. Throws `UserError` for another syntax, a metric or a class that the task does not have, and a
/// metric of which less is better, which is not counted in points.
Gate parse_gate(std::string_view text, const LabelScheme& scheme);

/// What a gate judges of an evaluation of its task; NaN where it is not defined.
double gated_value(const Gate& gate, const TaskEvaluation& evaluation);

}  // namespace hone
