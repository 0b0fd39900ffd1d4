#pragma once

#include <string>

#include "hone/metrics/task_evaluation.h"
#include "hone/metrics/verdict.h"
#include "hone/report/document.h"

/// What a document says first of a compressed model beside its baseline.
namespace hone {

/// "94.6% → 94.7%"
std::string values_text(double before, double after);

/// "accuracy within 0.5 points (94.6% → 94.7%)", "accuracy dropped by more than 0.5 points (94.6% → 91.2%)",
/// "accuracy 94.6% → 94.2%, inconclusive for a limit of 0.5 points".
/// `before`, `after`: values of the metric.
std::string change_headline(double before, double after, const Verdict& verdict);
/// The same with `values`: "94.6% → 94.7%", "-0.30 points".
std::string change_headline(const std::string& values, const Verdict& verdict);

/// The same where nobody asked for a limit: "accuracy 94.6% → 91.2% (-3.40 points, 95% CI -4.12 to -2.70)"; of values that
/// rounding makes alike, one: "accuracy 94.6% (+0.04 points, 95% CI -0.20 to +0.28)".
std::string unjudged_headline(double before, double after, const Verdict& verdict);

/// The metric by which the task is judged: {"Accuracy", "94.6% → 94.7% (+0.10 points)"}.
Fact change_figure(const TaskEvaluation& before, const TaskEvaluation& after);

/// "+0.02 points (-0.25 to +0.29)", with the 95% confidence interval.
std::string points_change(const TaskComparison& comparison);

/// How many predictions changed: {"Predictions changed", "2.3% (280 of 12,000)"}; of numbers by how much: {"Mean absolute change of
/// predictions", "0.0041"}.
Fact flips_figure(const TaskComparison& comparison);

/// Puts `figures` before the key figures of `document`.
void lead_with(Document& document, std::vector<Fact> figures);

/// "2.82 MiB", "176 KiB": three significant digits.
std::string short_bytes(double bytes);

/// {"Size", "2.82 MiB → 181 KiB (16× smaller)"}, of bytes.
Fact size_figure(const std::string& name, double before, double after);

}  // namespace hone
