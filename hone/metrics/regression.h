#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "hone/metrics/classification.h"
#include "hone/metrics/metric_change.h"

/// Metrics of regression.
///
///     RegressionEvaluation e = evaluate_regression({predictions, /*outputs=*/1}, targets);
///     e.r2, e.rmse, e.of_output[0].pearson.interval.low
namespace hone {

/// A view of numbers, (examples, outputs), row by row.
struct Outputs {
  std::span<const float> values;
  std::int64_t outputs = 1;

  std::int64_t examples() const { return std::ssize(values) / outputs; }
  double at(std::int64_t example, std::int64_t output) const {
    return values[static_cast<std::size_t>(example * outputs + output)];
  }
};

/// Errors, and the share of the targets' variance that is explained.
struct ErrorMetrics {
  double mse = 0;   ///< mean squared error
  double rmse = 0;  ///< its root
  double mae = 0;   ///< mean absolute error
  double r2 = 0;    ///< 1 - SSE / SST, SST about the targets' mean; NaN if all targets are the same
};

/// A correlation of predictions and targets.
struct Correlation {
  double value = 0;   ///< NaN if one side is constant
  Interval interval;  ///< 95%; [-1, 1] if it is not defined, or there are too few examples
};

/// Metrics of one output.
struct OutputMetrics {
  ErrorMetrics errors;
  Correlation pearson;   ///< `pearson_interval`
  Correlation spearman;  ///< of ranks, ties at their mean rank; `spearman_interval`
};

/// All metrics of predictions are NaN if one prediction is not finite.
struct RegressionEvaluation {
  std::int64_t examples = 0;
  double evidence = 1;  ///< of each example, below 1 if some repeat others; the basis of intervals
  std::int64_t without_prediction = 0;  ///< examples with a NaN or an infinity among their outputs
  /// Over all outputs: means of all errors, and r2 of the sums over outputs, each SST about its own mean, which is
  /// scikit-learn's multioutput="variance_weighted". NaN without examples.
  ErrorMetrics errors;
  Interval r2_interval;  ///< of `errors.r2`, 95%: `ratio_interval`
  /// The same for always predicting the mean of each output's targets: its r2 is 0.
  ErrorMetrics constant_baseline;
  double pearson = 0, spearman = 0;      ///< means over the outputs
  std::vector<OutputMetrics> of_output;  ///< (outputs)
};

/// Evaluates predictions of the same shape as the targets. `texts`: as in `evidence` (hone/metrics/evidence.h). Throws
/// `UserError` for a target that is not finite.
RegressionEvaluation evaluate_regression(const Outputs& predictions, std::span<const float> targets,
                                         std::span<const std::int32_t> texts = {});

/// Throws `UserError` naming the first of `targets`, (examples, outputs), that is not finite.
void check_targets(std::span<const float> targets, std::int64_t outputs);

/// Returns Pearson's r of two values per example. NaN if one side is constant.
double pearson_correlation(std::span<const double> a, std::span<const double> b);
/// Returns the contribution of each example to Pearson's r, linearised (Devlin, Gnanadesikan & Kettenring 1975,
/// Biometrika 62:531): (z_a z_b - r (z_a² + z_b²) / 2) / n of standardised values. All NaN if r is not defined.
std::vector<double> pearson_contributions(std::span<const double> a, std::span<const double> b);
/// Returns the contribution of each example to Spearman's r: that to the correlation of the ranks, and its effect
/// through the ranks of the others (Croux & Dehon 2010, Statistical Methods & Applications 19:497, here with ties). All
/// NaN if r is not defined.
std::vector<double> spearman_contributions(std::span<const double> a, std::span<const double> b);
/// Returns ranks from 1 on. Equal values get their mean rank: two smallest ones 1.5.
std::vector<double> ranks_of(std::span<const double> values);

/// Returns the 95% interval of a correlation r observed on n examples, by Fisher's z (Fisher 1921, Metron 1:3):
///
///     tanh(atanh r ± 1.96 / sqrt(n - 3))
///
/// n is `examples` times their evidence. [-1, 1] for n ≤ 3 and for a NaN. The width is 0 at r = ±1.
Interval pearson_interval(double r, std::int64_t examples, double evidence = 1);
/// The same for Spearman's r, with the variance (1 + r²/2) / (n - 3) of its z (Bonett & Wright 2000, Psychometrika
/// 65:23).
Interval spearman_interval(double r, std::int64_t examples, double evidence = 1);

/// A comparison of a candidate with its baseline on the same examples.
struct RegressionComparison {
  std::int64_t examples = 0;
  double evidence = 1;  ///< of each example
  /// Signal-to-noise ratio of the candidate's predictions in decibels, with those of the baseline about their mean as
  /// the signal: 10 log10( Σ (baseline - mean)² / Σ (candidate - baseline)² ). Infinite if none differs.
  double snr_db = 0;
  /// Mean |candidate - baseline| over all outputs, in the unit of the targets; NaN if a prediction is NaN.
  double mean_shift = 0;
  std::int64_t baseline_without = 0, candidate_without = 0;  ///< examples without a prediction
  /// r2 of the candidate minus that of the baseline: (SSE of the baseline - SSE of the candidate) / SST. Not defined if
  /// a prediction is not finite, or if all targets are the same; the notes say so.
  MetricChange r2;
};

/// Compares two models. All three arguments have the same shape. `texts`: as in `evidence`. Throws `UserError` for a
/// target that is not finite.
RegressionComparison compare_regression(const Outputs& baseline, const Outputs& candidate,
                                        std::span<const float> targets,
                                        std::span<const std::int32_t> texts = {});

/// Returns warnings about the evaluation, a sentence each: predictions that are not finite, or all the same, a model
/// that is no better than the mean, targets that are all the same.
std::vector<std::string> concerns(const RegressionEvaluation& evaluation);

}  // namespace hone
