#include "hone/metrics/regression.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "hone/base/error.h"
#include "hone/base/text.h"
#include "hone/metrics/evidence.h"
#include "hone/metrics/verdict_text.h"

namespace hone {
namespace {

constexpr double kUndefined = std::numeric_limits<double>::quiet_NaN();

/// Sums of squares and of absolute values of errors, and of squares about the mean.
struct ErrorSums {
  double squares = 0, absolute = 0, about_mean = 0, count = 0;

  void operator+=(const ErrorSums& other) {
    squares += other.squares;
    absolute += other.absolute;
    about_mean += other.about_mean;
    count += other.count;
  }
  ErrorMetrics metrics() const {
    const double mse = squares / count;
    return {mse, std::sqrt(mse), absolute / count,
            about_mean > 0 ? 1 - squares / about_mean : kUndefined};
  }
};

std::vector<double> column(const Outputs& values, std::int64_t output) {
  std::vector<double> result;
  for (std::int64_t i = 0; i < values.examples(); ++i) result.push_back(values.at(i, output));
  return result;
}

double mean_of(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

ErrorSums error_sums(std::span<const double> predictions, std::span<const double> targets) {
  ErrorSums sums{.count = static_cast<double>(targets.size())};
  const double mean = mean_of(targets);
  for (std::size_t i = 0; i < targets.size(); ++i) {
    const double error = predictions[i] - targets[i], distance = targets[i] - mean;
    sums.squares += error * error;
    sums.absolute += std::abs(error);
    sums.about_mean += distance * distance;
  }
  return sums;
}

bool has_prediction(const Outputs& outputs, std::int64_t example) {
  for (std::int64_t o = 0; o < outputs.outputs; ++o)
    if (!std::isfinite(outputs.at(example, o))) return false;
  return true;
}

std::int64_t count_without_prediction(const Outputs& outputs) {
  std::int64_t count = 0;
  for (std::int64_t i = 0; i < outputs.examples(); ++i) count += !has_prediction(outputs, i);
  return count;
}

// `variance` is that of Fisher's z times n - 3.
Interval fisher_interval(double r, double variance, std::int64_t examples, double evidence) {
  const double n = static_cast<double>(examples) * evidence;
  if (std::isnan(r) || !(n > 3)) return {-1, 1};
  const double z = std::atanh(r), half = kNormal975 * std::sqrt(variance / (n - 3));
  return {std::tanh(z - half), std::tanh(z + half)};
}

std::string without_number_text(std::string_view whose, std::int64_t without,
                                std::int64_t examples) {
  return without == 0 ? ""
                      : fmt::format("; {} of {} predictions of the {} are not finite",
                                    grouped(without), grouped(examples), whose);
}

}  // namespace

void check_targets(std::span<const float> targets, std::int64_t outputs) {
  const auto bad = std::ranges::find_if(targets, [](float t) { return !std::isfinite(t); });
  if (bad == targets.end()) return;
  fail(
      "targets: example {} has {}, expected a finite number; check the label column, or leave "
      "examples without a target out",
      (bad - targets.begin()) / outputs, *bad);
}

double pearson_correlation(std::span<const double> a, std::span<const double> b) {
  const double mean_a = mean_of(a), mean_b = mean_of(b);
  double aa = 0, bb = 0, ab = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double x = a[i] - mean_a, y = b[i] - mean_b;
    aa += x * x;
    bb += y * y;
    ab += x * y;
  }
  const auto varies = [](std::span<const double> values) {
    return std::ranges::any_of(values, [&](double v) { return v != values[0]; });
  };
  if (!varies(a) || !varies(b)) return kUndefined;
  return std::clamp(ab / (std::sqrt(aa) * std::sqrt(bb)), -1.0, 1.0);
}

std::vector<double> ranks_of(std::span<const double> values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  std::vector<double> ranks(values.size());
  for (std::size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    while (end < order.size() && values[order[end]] == values[order[begin]]) ++end;
    // Places begin + 1 to end share their mean.
    for (std::size_t i = begin; i < end; ++i)
      ranks[order[i]] = static_cast<double>(begin + 1 + end) / 2;
  }
  return ranks;
}

namespace {

// Returns (value - mean) / standard deviation of each value.
std::vector<double> standardised(std::span<const double> values) {
  const double mean = mean_of(values);
  std::vector<double> z(values.begin(), values.end());
  double squares = 0;
  for (double& value : z) {
    value -= mean;
    squares += value * value;
  }
  const double deviation = std::sqrt(squares / static_cast<double>(z.size()));
  for (double& value : z) value /= deviation;
  return z;
}

// Returns, for each example, the sum of `weights` of the examples with larger values, divided by n; equal values count
// half. An example raises the ranks of these, and so changes their weighted sum.
std::vector<double> mean_above(std::span<const double> values, std::span<const double> weights) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) { return values[a] > values[b]; });
  std::vector<double> means(values.size());
  double above = 0;
  for (std::size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    double tied = 0;
    for (; end < order.size() && values[order[end]] == values[order[begin]]; ++end)
      tied += weights[order[end]];
    for (std::size_t i = begin; i < end; ++i)
      means[order[i]] = (above + tied / 2) / static_cast<double>(values.size());
    above += tied;
  }
  return means;
}

}  // namespace

std::vector<double> pearson_contributions(std::span<const double> a, std::span<const double> b) {
  const double r = pearson_correlation(a, b), count = static_cast<double>(a.size());
  std::vector<double> contributions(a.size(), r);
  if (std::isnan(r)) return contributions;
  const std::vector<double> x = standardised(a), y = standardised(b);
  for (std::size_t i = 0; i < contributions.size(); ++i)
    contributions[i] = (x[i] * y[i] - r * (x[i] * x[i] + y[i] * y[i]) / 2) / count;
  return contributions;
}

std::vector<double> spearman_contributions(std::span<const double> a, std::span<const double> b) {
  const std::vector<double> ranks_a = ranks_of(a), ranks_b = ranks_of(b);
  std::vector<double> contributions = pearson_contributions(ranks_a, ranks_b);
  if (contributions.empty() || std::isnan(contributions[0])) return contributions;
  const double r = pearson_correlation(ranks_a, ranks_b), count = static_cast<double>(a.size());
  const std::vector<double> x = standardised(ranks_a), y = standardised(ranks_b);
  // An example raises the ranks above it. `scale` is n over the standard deviation of the ranks.
  const auto scale = [&](std::span<const double> ranks) {
    const double mean = mean_of(ranks);
    double squares = 0;
    for (const double rank : ranks) squares += (rank - mean) * (rank - mean);
    return count / std::sqrt(squares / count);
  };
  const double in_a = scale(ranks_a), in_b = scale(ranks_b);
  const std::vector<double> xy = mean_above(a, y), xx = mean_above(a, x), yx = mean_above(b, x),
                            yy = mean_above(b, y);
  for (std::size_t i = 0; i < contributions.size(); ++i)
    contributions[i] += (in_a * (xy[i] - r * xx[i]) + in_b * (yx[i] - r * yy[i])) / count;
  const double mean = mean_of(contributions);
  for (double& part : contributions) part -= mean;
  return contributions;
}

Interval pearson_interval(double r, std::int64_t examples, double evidence) {
  return fisher_interval(r, 1, examples, evidence);
}

Interval spearman_interval(double r, std::int64_t examples, double evidence) {
  return fisher_interval(r, 1 + r * r / 2, examples, evidence);
}

namespace {

// An example contributes -(e² - (1 - R²) d²) / SST to R² = 1 - SSE / SST, linearised, with d the distance of its target
// from the mean.
Interval r2_interval(const Outputs& predictions, const Outputs& truth, double r2,
                     std::span<const std::int32_t> texts) {
  const auto examples = static_cast<std::size_t>(predictions.examples());
  std::vector<double> values(examples), spread(examples);
  std::vector<char> wrong(examples);
  for (std::int64_t o = 0; o < predictions.outputs; ++o) {
    const double mean = mean_of(column(truth, o));
    for (std::size_t i = 0; i < examples; ++i) {
      const auto example = static_cast<std::int64_t>(i);
      const double error = predictions.at(example, o) - truth.at(example, o),
                   distance = truth.at(example, o) - mean;
      values[i] += error * error;
      spread[i] += distance * distance;
      if (error != 0) wrong[i] = 1;
    }
  }
  const double total = std::accumulate(spread.begin(), spread.end(), 0.0);
  for (std::size_t i = 0; i < examples; ++i) values[i] = ((1 - r2) * spread[i] - values[i]) / total;
  // If all is right, a wrong prediction is assumed to cost as much as predicting the mean.
  return ratio_interval(kR2, r2, {values, wrong, 1 / static_cast<double>(examples)}, texts);
}

}  // namespace

RegressionEvaluation evaluate_regression(const Outputs& predictions, std::span<const float> targets,
                                         std::span<const std::int32_t> texts) {
  HONE_ASSERT(predictions.values.size() == targets.size(), "{} predictions, {} targets",
              predictions.values.size(), targets.size());
  check_targets(targets, predictions.outputs);
  const Outputs truth{targets, predictions.outputs};
  RegressionEvaluation result;
  result.examples = predictions.examples();
  result.evidence = evidence(texts);
  result.without_prediction = count_without_prediction(predictions);
  const bool whole = result.without_prediction == 0;
  ErrorSums all, all_of_mean;
  for (std::int64_t o = 0; o < predictions.outputs; ++o) {
    std::vector<double> p = column(predictions, o);
    const std::vector<double> t = column(truth, o);
    // If one prediction is not finite, makes all of them NaN, and so the metrics of all outputs.
    if (!whole) std::ranges::fill(p, kUndefined);
    const ErrorSums sums = error_sums(p, t);
    all += sums;
    all_of_mean += error_sums(std::vector<double>(t.size(), t.empty() ? 0 : mean_of(t)), t);
    const double pearson = whole ? pearson_correlation(p, t) : kUndefined,
                 spearman = whole ? pearson_correlation(ranks_of(p), ranks_of(t)) : kUndefined;
    result.of_output.push_back(
        {sums.metrics(),
         {pearson, pearson_interval(pearson, result.examples, result.evidence)},
         {spearman, spearman_interval(spearman, result.examples, result.evidence)}});
    result.pearson += pearson / static_cast<double>(predictions.outputs);
    result.spearman += spearman / static_cast<double>(predictions.outputs);
  }
  result.errors = all.metrics();
  result.r2_interval = r2_interval(predictions, truth, result.errors.r2, texts);
  result.constant_baseline = all_of_mean.metrics();
  return result;
}

RegressionComparison compare_regression(const Outputs& baseline, const Outputs& candidate,
                                        std::span<const float> targets,
                                        std::span<const std::int32_t> texts) {
  HONE_ASSERT(baseline.values.size() == targets.size() &&
                  candidate.values.size() == targets.size() &&
                  baseline.outputs == candidate.outputs,
              "{} x {} and {} x {} predictions, {} targets", baseline.examples(), baseline.outputs,
              candidate.examples(), candidate.outputs, targets.size());
  check_targets(targets, baseline.outputs);
  const Outputs truth{targets, baseline.outputs};
  const auto examples = static_cast<std::size_t>(baseline.examples());
  std::vector<double> gain(examples), spread(examples);  // of squared error; about the mean
  std::vector<char> differ(examples);
  double shift = 0, signal = 0, noise = 0;
  for (std::int64_t o = 0; o < baseline.outputs; ++o) {
    const std::vector<double> t = column(truth, o);
    const double mean = mean_of(t), parent_mean = mean_of(column(baseline, o));
    for (std::size_t i = 0; i < examples; ++i) {
      const auto example = static_cast<std::int64_t>(i);
      const double before = baseline.at(example, o), after = candidate.at(example, o);
      gain[i] += (before - t[i]) * (before - t[i]) - (after - t[i]) * (after - t[i]);
      spread[i] += (t[i] - mean) * (t[i] - mean);
      shift += std::abs(after - before);
      signal += (before - parent_mean) * (before - parent_mean);
      noise += (after - before) * (after - before);
      if (before != after) differ[i] = 1;
    }
  }
  RegressionComparison result;
  result.examples = baseline.examples();
  result.evidence = evidence(texts);
  result.snr_db =
      noise == 0 ? std::numeric_limits<double>::infinity() : 10 * std::log10(signal / noise);
  result.mean_shift = shift / static_cast<double>(targets.size());
  result.baseline_without = count_without_prediction(baseline);
  result.candidate_without = count_without_prediction(candidate);
  const double total = std::accumulate(spread.begin(), spread.end(), 0.0);
  const bool defined = result.baseline_without + result.candidate_without == 0 && total > 0;
  const double change =
      defined ? std::accumulate(gain.begin(), gain.end(), 0.0) / total : kUndefined;
  for (std::size_t i = 0; i < examples; ++i) gain[i] = (gain[i] - change * spread[i]) / total;
  // If nothing differs, a differing prediction is assumed to cost as much as predicting the mean.
  result.r2 = paired_change(kR2, change, {gain, differ, 1 / static_cast<double>(examples)}, texts);
  if (defined) {
    result.r2.notes += shift_text(result.mean_shift);
  } else {
    result.r2.notes += without_number_text("baseline", result.baseline_without, result.examples) +
                       without_number_text("candidate", result.candidate_without, result.examples) +
                       (total > 0 ? "" : "; all targets are the same");
  }
  return result;
}

std::vector<std::string> concerns(const RegressionEvaluation& e) {
  std::vector<std::string> sentences;
  if (e.examples == 0) return sentences;
  if (e.without_prediction > 0) {
    sentences.push_back(without_prediction_text(e.without_prediction, e.examples));
    return sentences;
  }
  if (std::isnan(e.errors.r2)) {
    sentences.push_back(fmt::format(
        "all {} targets are the same, so there is no variance to explain", grouped(e.examples)));
  } else if (e.of_output.size() == 1 && std::isnan(e.pearson)) {
    sentences.push_back(
        fmt::format("the model predicts the same number for all {} examples", grouped(e.examples)));
  } else if (e.errors.r2 <= 0) {
    sentences.push_back(fmt::format(
        "the model is no better than always giving the mean: its root mean squared error is "
        "{:.4g}, that of the mean {:.4g}",
        e.errors.rmse, e.constant_baseline.rmse));
  }
  return sentences;
}

}  // namespace hone
