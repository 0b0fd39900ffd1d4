#include "hone/metrics/comparison.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "hone/base/error.h"
#include "hone/metrics/evidence.h"

namespace hone {
namespace {

void check_same_examples(const Logits& a, const Logits& b) {
  HONE_ASSERT(a.classes == b.classes && a.values.size() == b.values.size(),
              "{} x {} logits against {} x {}", a.examples(), a.classes, b.examples(), b.classes);
}

// Returns Σ C(n, i) / 2^n for i = 0 … k. The sum is a double times a separate power of two, so that nothing overflows
// or underflows on the way; it is exact if all C(n, i) are below 2^53.
double binomial_tail(std::int64_t k, std::int64_t n) {
  constexpr int kStep = 512;
  double term = 1, sum = 1;
  std::int64_t exponent = -n;
  for (std::int64_t i = 1; i <= k; ++i) {
    term = term * static_cast<double>(n - i + 1) / static_cast<double>(i);
    sum += term;
    if (sum < std::ldexp(1.0, kStep)) continue;
    term = std::ldexp(term, -kStep);
    sum = std::ldexp(sum, -kStep);
    exponent += kStep;
  }
  constexpr std::int64_t kBelowAllDoubles = -5000;
  return std::ldexp(sum, static_cast<int>(std::max(exponent, kBelowAllDoubles)));
}

// Returns the classes of the largest and the second largest logit.
std::pair<std::size_t, std::size_t> top_two(std::span<const float> row) {
  std::size_t first = 0, second = 1;
  if (row[1] > row[0]) std::swap(first, second);
  for (std::size_t c = 2; c < row.size(); ++c) {
    if (row[c] > row[first]) {
      second = std::exchange(first, c);
    } else if (row[c] > row[second]) {
      second = c;
    }
  }
  return {first, second};
}

// Returns McNemar's p-value with each text counted once. `gains`: per example 1 if only the candidate is right, -1 if
// only the baseline is.
double mcnemar_p_of_texts(std::span<const int> gains, std::span<const std::int32_t> texts) {
  std::vector<std::int64_t> gain_of_text(gains.size(), 0);
  for (std::size_t i = 0; i < gains.size(); ++i)
    gain_of_text[texts.empty() ? i : static_cast<std::size_t>(texts[i])] += gains[i];
  return mcnemar_p(std::ranges::count_if(gain_of_text, [](std::int64_t gain) { return gain < 0; }),
                   std::ranges::count_if(gain_of_text, [](std::int64_t gain) { return gain > 0; }));
}

}  // namespace

double mcnemar_p(std::int64_t only_baseline, std::int64_t only_candidate) {
  return std::min(1.0, 2 * binomial_tail(std::min(only_baseline, only_candidate),
                                         only_baseline + only_candidate));
}

double margin_snr_db(const Logits& baseline, const Logits& candidate) {
  check_same_examples(baseline, candidate);
  HONE_ASSERT(baseline.classes >= 2, "a margin needs two classes, not {}", baseline.classes);
  double signal = 0, noise = 0;
  for (std::int64_t i = 0; i < baseline.examples(); ++i) {
    const std::span<const float> p = baseline.row(i), c = candidate.row(i);
    const auto [first, second] = top_two(p);
    const double baseline_margin = static_cast<double>(p[first]) - p[second];
    const double error = (static_cast<double>(c[first]) - c[second]) - baseline_margin;
    signal += baseline_margin * baseline_margin;
    noise += error * error;
  }
  if (noise == 0) return std::numeric_limits<double>::infinity();
  return 10 * std::log10(signal / noise);
}

Comparison compare(const Logits& baseline, const Logits& candidate,
                   std::span<const std::int32_t> labels, std::span<const std::int32_t> texts) {
  check_same_examples(baseline, candidate);
  HONE_ASSERT(static_cast<std::size_t>(baseline.examples()) == labels.size(),
              "{} rows of logits, {} labels", baseline.examples(), labels.size());
  check_labels(labels, baseline.classes);
  const std::vector<std::int32_t> before = predictions(baseline), after = predictions(candidate);
  std::vector<char> was_right(labels.size()), is_right(labels.size()), differ(labels.size());
  for (std::size_t i = 0; i < labels.size(); ++i) {
    was_right[i] = before[i] == labels[i] ? 1 : 0;
    is_right[i] = after[i] == labels[i] ? 1 : 0;
    differ[i] = before[i] != after[i] ? 1 : 0;
  }
  Comparison result = compare_predictions(was_right, is_right, differ, texts);
  result.margin_snr_db = margin_snr_db(baseline, candidate);
  return result;
}

Comparison compare_predictions(std::span<const char> baseline_right,
                               std::span<const char> candidate_right, std::span<const char> differ,
                               std::span<const std::int32_t> texts) {
  Comparison result;
  result.examples = std::ssize(baseline_right);
  result.evidence = evidence(texts);
  std::vector<int> gains(baseline_right.size());
  for (std::size_t i = 0; i < baseline_right.size(); ++i) {
    const bool was_right = baseline_right[i] != 0, is_right = candidate_right[i] != 0;
    result.flips += differ[i] != 0;
    result.both_right += was_right && is_right;
    result.both_wrong += !was_right && !is_right;
    result.only_baseline += was_right && !is_right;
    result.only_candidate += !was_right && is_right;
    gains[i] = static_cast<int>(is_right) - static_cast<int>(was_right);
  }
  result.flip_share = static_cast<double>(result.flips) / static_cast<double>(result.examples);
  result.flip_interval = wilson_interval(result.flips, result.examples, result.evidence);
  result.mcnemar_p = mcnemar_p_of_texts(gains, texts);
  result.margin_snr_db = std::numeric_limits<double>::quiet_NaN();
  return result;
}

double tango_score(const Comparison& c, double change) {
  const double n = c.evidence * static_cast<double>(c.examples),
               gained = c.evidence * static_cast<double>(c.only_candidate),
               lost = c.evidence * static_cast<double>(c.only_baseline);
  if (c.examples == 0) return 0;
  // The maximum-likelihood share of lost examples under the hypothesis: the root of a q² + b q + d = 0.
  const double a = 2 * n, b = (2 * n - gained + lost) * change - gained - lost,
               d = -lost * change * (1 - change);
  const double q = (std::sqrt(std::max(0.0, b * b - 4 * a * d)) - b) / (2 * a);
  const double variance = n * (2 * q + change * (1 - change));
  const double excess = gained - lost - n * change;
  if (variance <= 0) return excess == 0 ? 0 : std::copysign(HUGE_VAL, excess);
  return excess / std::sqrt(variance);
}

namespace {

// Finds the change with this score by bisection: the score falls as the change rises.
double change_with_score(const Comparison& c, double score, double low, double high) {
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (tango_score(c, middle) > score ? low : high) = middle;
  }
  return (low + high) / 2;
}

}  // namespace

Interval accuracy_change_interval(const Comparison& comparison) {
  if (comparison.examples == 0) return {-1, 1};
  const double change = comparison.accuracy_change();
  return {change_with_score(comparison, kNormal975, -1, change),
          change_with_score(comparison, -kNormal975, change, 1)};
}

}  // namespace hone
