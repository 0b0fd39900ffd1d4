#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hone/passes/quantize.h"
#include "hone/report/table.h"
#include "hone/study/measure.h"
#include "hone/study/result.h"

namespace hone {

/// A row of a results table: a model compared with its baseline.
struct ComparedModel {
  std::string label;
  double average_weight_bits = 32;  ///< of its quantized weights; 32: full precision
  Measurement measurement;
  std::optional<TaskComparison> comparison;  ///< none: it is the baseline
  std::string_view arithmetic = kSimulated;  ///< as `arithmetic_of` says
  std::optional<Verdict> verdict = {};       ///< none: it is the baseline, or there is no limit
};

/// Returns a row for each model, the baseline first: the metric, its change, predictions changed, the result, loss,
/// bits per weight, and arithmetic (fp32, simulated, …). `models` has at least one row, and all have the same task.
Table comparison_table(const std::vector<ComparedModel>& models);

/// Returns the margin SNR of each model but the baseline, and McNemar's p for classes.
Table statistics_table(const std::vector<ComparedModel>& models);

/// Returns the columns of a model's row for a task with this main metric: the metric, its change and flips against the
/// baseline with their 95% intervals (for regression the mean shift), McNemar's p for accuracy, verdict, loss, margin
/// SNR.
std::vector<Column> metric_columns(const MetricName& metric);
/// Returns the cells of these columns.
std::vector<Cell> metric_cells(const ComparedModel& model);

/// Returns the warnings about each model's evaluation (see `concerns` of an evaluation), each with the model's label in
/// front.
std::vector<std::string> concerns(const std::vector<ComparedModel>& models,
                                  const std::vector<std::string>& labels);

/// A model and its metrics in results.
struct NamedMetrics {
  std::string model;
  double average_weight_bits = 32;
  std::string arithmetic;
  EvaluationResult measured = {};
};
const Fields& fields_of(const NamedMetrics*);
/// `labels` are the names of the classes.
NamedMetrics named_metrics(const ComparedModel& model, const std::vector<std::string>& labels);

/// One of several models made from the same baseline, in results.
struct MeasuredModelResult {
  NamedMetrics metrics;
  std::optional<ComparisonResult> comparison = {};
};
const Fields& fields_of(const MeasuredModelResult*);
MeasuredModelResult measured_model(const ComparedModel& model,
                                   const std::vector<std::string>& labels);
std::vector<MeasuredModelResult> measured_models(const std::vector<ComparedModel>& models,
                                                 const std::vector<std::string>& labels);

/// Returns a cell with the value and its 95% interval.
Cell metric_cell(const TaskEvaluation& evaluation);
/// Returns the same for a sentence: "80.6% (95% CI 79.4 to 81.8)".
std::string metric_sentence(const TaskEvaluation& evaluation);
Cell change_cell(const MetricChange& change);
/// Returns the changes of a candidate: "+0.00 points, 95%: -0.38 to +0.38; 0.00% flips, 95%: 0.00 to 0.38".
std::string change_sentence(const TaskComparison& comparison);
/// Returns how much predictions differ: the share of flips; for regression the mean shift.
Cell difference_cell(const TaskComparison& comparison);
Column difference_column(const MetricName& metric);
/// Returns "within limit", "exceeds limit" or "inconclusive".
Cell verdict_cell(const Verdict& verdict);

/// Returns the color of a verdict's sentence.
Tone tone_of(const Verdict& verdict);

}  // namespace hone
