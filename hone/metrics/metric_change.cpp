#include "hone/metrics/metric_change.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "hone/base/error.h"
#include "hone/base/text.h"
#include "hone/metrics/evidence.h"
#include "hone/metrics/planning.h"
#include "hone/metrics/seeds.h"
#include "hone/metrics/verdict_text.h"

namespace hone {
namespace {

constexpr double kSmallestExcess = kNormal975 * kNormal975;

/// Sums over the texts.
struct TextSums {
  std::int64_t count = 0;    ///< G
  double squares = 0;        ///< Σ u²
  std::int64_t differ = 0;   ///< K
  double mean_square = 0;    ///< of u where the models differ, or its assumed value
  std::int64_t degrees = 0;  ///< of freedom of Σ u²

  double half_width() const {
    const auto free = static_cast<double>(degrees);
    return student_975(degrees) *
           std::sqrt((free + 1) / free * (squares + kSmallestExcess * mean_square));
  }
};

// Returns the degrees of freedom of the chi-squared distribution with the mean and the variance of Σ u²; the variance
// is Σ u⁴ - (Σ u²)² / G.
std::int64_t degrees_of(double squares, double fourths, std::int64_t count) {
  const double variance = fourths - squares * squares / static_cast<double>(count);
  const double degrees = 2 * squares * squares / variance, most = static_cast<double>(count - 1);
  return degrees < most ? std::max<std::int64_t>(1, std::llround(degrees)) : count - 1;
}

TextSums sums_by_text(const Contributions& c, std::span<const std::int32_t> texts) {
  HONE_ASSERT(
      c.values.size() == c.differ.size() && (texts.empty() || texts.size() == c.values.size()),
      "{} contributions, {} marks, {} texts", c.values.size(), c.differ.size(), texts.size());
  struct Text {
    double sum = 0;
    bool stands = false, differs = false;
  };
  std::vector<Text> by_text(c.values.size());
  for (std::size_t i = 0; i < c.values.size(); ++i) {
    Text& text = by_text[texts.empty() ? i : static_cast<std::size_t>(texts[i])];
    text.sum += c.values[i];
    text.stands = true;
    text.differs |= c.differ[i] != 0;
  }
  TextSums sums;
  double fourths = 0;
  for (const Text& text : by_text) {
    const double square = text.sum * text.sum;
    sums.count += text.stands;
    sums.squares += square;
    fourths += square * square;
    sums.differ += text.differs;
  }
  sums.degrees = c.is_unequal ? degrees_of(sums.squares, fourths, sums.count) : sums.count - 1;
  // A text in several rows contributes as many times as much.
  const double least = c.least / evidence(texts);
  // A differing whole prediction counts at least as much as `least`: a first loss must not narrow the interval.
  const bool at_least = c.is_discrete || sums.squares == 0;
  sums.mean_square = (at_least ? std::max(sums.squares, least * least) : sums.squares) /
                     static_cast<double>(std::max<std::int64_t>(sums.differ, 1));
  const double greatest = c.greatest / evidence(texts);
  sums.mean_square = std::max(sums.mean_square, greatest * greatest);
  return sums;
}

// Clips the interval of a change to possible values.
Interval possible(const MetricName& metric, const Interval& interval) {
  if (metric.may_be_negative) return interval;
  return {std::max(-1.0, interval.low), std::min(1.0, interval.high)};
}

// Returns the mean square behind `TextSums::half_width`.
double mean_square_of(const RatioChange& c) {
  const auto texts = static_cast<double>(c.texts),
             differing = static_cast<double>(c.differing_texts);
  const double deviation = c.half / student_975(c.texts - 1);
  return deviation * deviation * (texts - 1) / texts / (differing + kSmallestExcess);
}

// Returns the smallest n at which differences in a share `rate` of n texts, each of size `size` / n, distinguish a
// change of `gap` from none:
// n gap / size ≥ z sqrt(rate n + 1.96²) + 0.84 sqrt(rate n). The left side grows faster.
std::optional<std::int64_t> texts_needed(double gap, const DifferingTexts& texts, double z) {
  const auto tells = [&](std::int64_t count) {
    const double n = static_cast<double>(count), differing = texts.rate * n;
    return n * gap >= texts.size * (z * std::sqrt(differing + kSmallestExcess) +
                                    kNormal80 * std::sqrt(differing));
  };
  if (!(gap > 0) || !tells(kMaxExamples)) return std::nullopt;
  std::int64_t low = 0, high = kMaxExamples;  // too few, and enough
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    (tells(middle) ? high : low) = middle;
  }
  return high;
}

}  // namespace

std::optional<std::int64_t> planned_texts(const ChangePlan& plan, double change, double margin,
                                          double z) {
  if (falls_short(change, margin)) return std::nullopt;
  if (const auto* rates = std::get_if<DisagreementRates>(&plan))
    return planned_examples(*rates, margin, z);
  return texts_needed(std::abs(change + margin), std::get<DifferingTexts>(plan), z);
}

std::optional<std::int64_t> planned_texts(const MetricChange& c, double margin, double z) {
  constexpr std::int64_t kMostTimes = 10;
  const std::int64_t at_hand = effective_examples(c.examples, c.evidence);
  const std::int64_t unchanged =
      planned_examples(observed_rates({.examples = at_hand, .flip_interval = {}}), margin, z)
          .value_or(0);
  const std::optional<std::int64_t> count = planned_texts(c.plan, c.change, margin, z);
  return count && *count <= kMostTimes * std::max(at_hand, unchanged) ? count : std::nullopt;
}

std::string condition_text(const ChangePlan& plan) {
  if (const auto* rates = std::get_if<DisagreementRates>(&plan)) return condition_text(*rates);
  const auto& texts = std::get<DifferingTexts>(plan);
  if (!texts.assumed) return condition_text(DisagreementRates{});
  return fmt::format("the true change is zero and one prediction in {} changes (none was observed)",
                     grouped(std::llround(1 / texts.rate)));
}

ChangePlan mean_plan(std::span<const MetricChange> seeds) {
  const double count = static_cast<double>(seeds.size());
  DisagreementRates rates{.assumed = true};  // until one disagrees
  DifferingTexts texts{.assumed = true};
  for (const MetricChange& seed : seeds) {
    if (const auto* own = std::get_if<DisagreementRates>(&seed.plan)) {
      rates.lost += own->lost / count;
      rates.gained += own->gained / count;
      rates.assumed &= own->assumed;
    } else {
      const auto& one = std::get<DifferingTexts>(seed.plan);
      texts.size += one.size / count;
      texts.rate += one.rate / count;
      texts.assumed &= one.assumed;
    }
  }
  if (std::holds_alternative<DisagreementRates>(seeds.front().plan)) return rates;
  return texts;
}

MetricChange accuracy_change(const Comparison& c) {
  if (c.examples == 0) return {.interval = Interval{-1, 1}, .score = [](double) { return 0.0; }};
  return {.examples = c.examples,
          .evidence = c.evidence,
          .change = c.accuracy_change(),
          .interval = accuracy_change_interval(c),
          .score = [c](double change) { return tango_score(c, std::clamp(change, -1.0, 1.0)); },
          .plan = observed_rates(c),
          .differs = c.mcnemar_p <= 0.05,
          .notes = differing_text(c.flips, c.examples, "prediction"),
          .counted = c};
}

MetricChange paired_change(const MetricName& metric, double change,
                           const Contributions& contributions,
                           std::span<const std::int32_t> texts) {
  const TextSums sums = sums_by_text(contributions, texts);
  const std::int64_t examples = std::ssize(contributions.values);
  if (std::isnan(change) || sums.count < 2)
    return {.metric = metric,
            .examples = examples,
            .evidence = evidence(texts),
            .change = std::numeric_limits<double>::quiet_NaN(),
            .notes = sums.count == 1 ? "; there is only one example" : ""};
  MetricChange made = ratio_change(metric, examples, evidence(texts),
                                   {change, sums.half_width(), sums.count, sums.differ});
  made.is_discrete = contributions.is_discrete;
  return made;
}

MetricChange ratio_change(const MetricName& metric, std::int64_t examples, double evidence,
                          const RatioChange& c) {
  const auto texts = static_cast<double>(c.texts),
             differing = static_cast<double>(c.differing_texts);
  return {.metric = metric,
          .examples = examples,
          .evidence = evidence,
          .change = c.change,
          .interval = possible(metric, {c.change - c.half, c.change + c.half}),
          // Scaled so that Student's half width is 1.96: the rule and the interval agree.
          .score = [c](double other) { return kNormal975 * (c.change - other) / c.half; },
          .plan = DifferingTexts{.size = std::sqrt(mean_square_of(c)) * texts,
                                 .rate = (differing + 0.5) / (texts + 1),
                                 .assumed = c.differing_texts == 0},
          .texts = c.texts,
          .differing_texts = c.differing_texts,
          .half_width = c.half};
}

Interval ratio_interval(const MetricName& metric, double value, const Contributions& contributions,
                        std::span<const std::int32_t> texts) {
  const double least = metric.may_be_negative ? -std::numeric_limits<double>::infinity() : 0;
  const TextSums sums = sums_by_text(contributions, texts);
  if (std::isnan(value) || sums.count < 2) return {least, 1};
  const double half = sums.half_width();
  return {std::max(least, value - half), std::min(1.0, value + half)};
}

}  // namespace hone
