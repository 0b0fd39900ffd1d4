#pragma once

#include <string>

#include "hone/metrics/task_evaluation.h"
#include "hone/metrics/verdict.h"
#include "hone/report/document.h"

/// Headlines and key figures of a compressed model compared with its baseline.
namespace hone {

/// Returns "94.6% → 94.7%".
std::string values_text(double before, double after);

/// Returns "accuracy within 0.5 points (94.6% → 94.7%)", "accuracy dropped by more than 0.5 points (94.6% → 91.2%)" or
/// "accuracy 94.6% → 94.2%, inconclusive for a limit of 0.5 points". `before`, `after`: values of the metric.
std::string change_headline(double before, double after, const Verdict& verdict);
/// The same with `values`: "94.6% → 94.7%", "-0.30 points".
std::string change_headline(const std::string& values, const Verdict& verdict);

/// The same without a limit: "accuracy 94.6% → 91.2% (-3.40 points, 95% CI -4.12 to -2.70)". If both values round to
/// the same text, it is shown once: "accuracy 94.6% (+0.04 points, 95% CI -0.20 to +0.28)".
std::string unjudged_headline(double before, double after, const Verdict& verdict);

/// Returns the change of the task's main metric: {"Accuracy", "94.6% → 94.7% (+0.10 points)"}.
Fact change_fact(const TaskEvaluation& before, const TaskEvaluation& after);

/// Returns "+0.02 points (-0.25 to +0.29)", with the 95% confidence interval.
std::string points_change(const TaskComparison& comparison);

/// Returns the changed predictions: {"Predictions changed", "2.3% (280 of 12,000)"}; for regression {"Mean absolute
/// change of predictions", "0.0041"}.
Fact flips_fact(const TaskComparison& comparison);

/// Inserts `figures` before the key figures of `document`.
void prepend_key_figures(Document& document, std::vector<Fact> figures);

/// Returns "2.82 MiB" or "176 KiB": three significant digits.
std::string short_bytes(double bytes);

/// Returns {"Size", "2.82 MiB → 181 KiB (16× smaller)"} for sizes in bytes.
Fact size_fact(const std::string& name, double before, double after);

}  // namespace hone
