#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hone/passes/quantize.h"
#include "hone/report/table.h"
#include "hone/study/measure.h"
#include "hone/study/result.h"

namespace hone {

/// One line of a table of results: a model beside the parent it was made from.
struct ComparedModel {
  std::string label;
  double average_weight_bits = 32;  ///< of its quantized weights; 32: full precision
  Measurement measurement;
  std::optional<TaskComparison> comparison;  ///< none: it is the parent
  std::string_view arithmetic = kSimulated;  ///< as `arithmetic_of` says
  std::optional<Verdict> verdict = {};       ///< none: it is the parent, or nothing is judged
};

/// A row for each model, the first the baseline: the metric, its change, predictions changed, the result, loss, bits per weight,
/// and arithmetic (fp32, simulated, …). `models` have one task, and there is one at least.
Table comparison_table(const std::vector<ComparedModel>& models);

/// McNemar's p, where there are classes, and the margin SNR of each model but the baseline.
Table statistics_table(const std::vector<ComparedModel>& models);

/// What tables say of a model of a task that is judged by this figure: the figure, its change and flips against the parent
/// with their 95% intervals (of numbers how far they move), of accuracy McNemar's p, verdict, loss, margin SNR.
std::vector<Column> figure_columns(const MetricName& figure);
/// The cells of these columns.
std::vector<Cell> figure_cells(const ComparedModel& model);

/// What has to be known before any row of the table is looked at (see `concerns` of an evaluation), with the model's
/// label in front.
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

/// A model among several that were made from one, in results.
struct MeasuredModelResult {
  NamedMetrics metrics;
  std::optional<ComparisonResult> comparison = {};
};
const Fields& fields_of(const MeasuredModelResult*);
MeasuredModelResult measured_model(const ComparedModel& model,
                                   const std::vector<std::string>& labels);
std::vector<MeasuredModelResult> measured_models(const std::vector<ComparedModel>& models,
                                                 const std::vector<std::string>& labels);

/// Cells of such tables, each with its 95% interval.
Cell figure_cell(const TaskEvaluation& evaluation);
/// The same in a sentence: "80.6% (95% CI 79.4 to 81.8)".
std::string metric_sentence(const TaskEvaluation& evaluation);
Cell change_cell(const MetricChange& change);
/// What a candidate changes, in a sentence: "+0.00 points, 95%: -0.38 to +0.38; 0.00% flips, 95%: 0.00 to 0.38".
std::string change_sentence(const TaskComparison& comparison);
/// By how much answers differ: the share of flips; of numbers how far they move on average.
Cell difference_cell(const TaskComparison& comparison);
Column difference_column(const MetricName& figure);
/// "within limit", "exceeds limit", "inconclusive".
Cell verdict_cell(const Verdict& verdict);

/// The colour of a verdict's sentence.
Tone tone_of(const Verdict& verdict);

}  // namespace hone
