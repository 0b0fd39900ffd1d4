#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "hone/metrics/classification.h"
#include "hone/metrics/metric_change.h"

/// What a model's numbers say about examples whose true numbers are known.
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
struct ErrorFigures {
  double mse = 0;   ///< mean squared error
  double rmse = 0;  ///< its root
  double mae = 0;   ///< mean absolute error
  double r2 =
      0;  ///< 1 - SSE / SST, SST about the targets' mean; NaN where all targets are the same
};

/// A correlation of predictions and targets.
struct Correlation {
  double value = 0;   ///< NaN where one side is the same everywhere
  Interval interval;  ///< 95%; [-1, 1] where it is not defined, or there are too few examples
};

/// How one output meets its targets.
struct OutputFigures {
  ErrorFigures errors;
  Correlation pearson;   ///< `pearson_interval`
  Correlation spearman;  ///< of ranks, ties at their mean rank; `spearman_interval`
};

/// With a prediction that is no finite number, which is never right, all figures of predictions are NaN.
struct RegressionEvaluation {
  std::int64_t examples = 0;
  double evidence = 1;  ///< of each example, as some repeat others; what intervals rest on
  std::int64_t without_prediction = 0;  ///< examples with a NaN or an infinity among their outputs
  /// Over all outputs: means of all errors, and r2 of the sums over outputs, each SST about its own mean, which is
  /// scikit-learn's multioutput="variance_weighted". NaN without examples.
  ErrorFigures errors;
  Interval r2_interval;  ///< of `errors.r2`, 95%: `ratio_interval`
  /// The same of always giving the mean of the targets of each output: its r2 is 0.
  ErrorFigures baseline;
  double pearson = 0, spearman = 0;      ///< means over the outputs
  std::vector<OutputFigures> of_output;  ///< (outputs)
};

/// Predictions and targets are of the same shape. `texts`: as in `evidence` (hone/metrics/evidence.h).
/// Throws `UserError` for a target that is no finite number.
RegressionEvaluation evaluate_regression(const Outputs& predictions, std::span<const float> targets,
                                         std::span<const std::int32_t> texts = {});

/// Throws `UserError` naming the first of `targets`, (examples, outputs), that is no finite number.
void check_targets(std::span<const float> targets, std::int64_t outputs);

/// Of values and values, one each per example: r of Pearson. NaN where one side is the same everywhere.
double pearson_correlation(std::span<const double> a, std::span<const double> b);
/// What each example adds to r of Pearson, linearised (Devlin, Gnanadesikan & Kettenring 1975, Biometrika 62:531):
/// (z_a z_b - r (z_a² + z_b²) / 2) / n of standardised values. NaN each where r is not defined.
std::vector<double> pearson_parts(std::span<const double> a, std::span<const double> b);
/// What each example adds to r of Spearman: that of the ranks, and the part that it has in the ranks of the others (Croux &
/// Dehon 2010, Statistical Methods & Applications 19:497, here with ties). NaN each where r is not defined.
std::vector<double> spearman_parts(std::span<const double> a, std::span<const double> b);
/// Ranks from 1 on, equal values at the mean of theirs: of two smallest, 1.5.
std::vector<double> ranks_of(std::span<const double> values);

/// The 95% interval of a correlation r seen on n examples, by Fisher's z (Fisher 1921, Metron 1:3):
///
///     tanh(atanh r ± 1.96 / sqrt(n - 3))
///
/// n is `examples` times their evidence. [-1, 1] for n ≤ 3 and for a NaN. At r = ±1 it has no width.
Interval pearson_interval(double r, std::int64_t examples, double evidence = 1);
/// That of Spearman's, with the variance (1 + r²/2) / (n - 3) of its z (Bonett & Wright 2000, Psychometrika 65:23).
Interval spearman_interval(double r, std::int64_t examples, double evidence = 1);

/// A candidate against its parent on the same examples.
struct RegressionComparison {
  std::int64_t examples = 0;
  double evidence = 1;  ///< of each example
  /// What of the parent's predictions, about their mean, is left in the candidate's, in decibels:
  /// 10 log10( Σ (parent - mean)² / Σ (candidate - parent)² ). Infinite where none differs.
  double snr_db = 0;
  /// Mean |candidate - parent| over all outputs, in the unit of the targets; NaN where one of them is no number.
  double mean_shift = 0;
  std::int64_t parent_without = 0, candidate_without = 0;  ///< examples without a prediction
  /// r2 of the candidate minus that of the parent: (SSE of the parent - SSE of the candidate) / SST. Not defined where a
  /// prediction is no finite number, and where all targets are the same; the notes say so.
  MetricChange r2;
};

/// All three are of the same shape. `texts`: as in `evidence`. Throws `UserError` for a target that is no finite number.
RegressionComparison compare_regression(const Outputs& parent, const Outputs& candidate,
                                        std::span<const float> targets,
                                        std::span<const std::int32_t> texts = {});

/// What has to be known before any figure is looked at, a sentence each: predictions that are no numbers, or all the same,
/// a model that does no better than the mean, targets that are all the same.
std::vector<std::string> concerns(const RegressionEvaluation& evaluation);

}  // namespace hone
