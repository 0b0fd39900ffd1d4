#include "hone/metrics/comparison.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "hone/base/error.h"
#include "hone/base/text.h"

namespace hone {
namespace {

// The 80 % point of the normal distribution: a difference is found four times out of five.
constexpr double kNormal80 = 0.8416212335729143;

void check_same_examples(const Logits& a, const Logits& b) {
  HONE_ASSERT(a.classes == b.classes && a.values.size() == b.values.size(),
              "{} x {} logits against {} x {}", a.examples(), a.classes, b.examples(), b.classes);
}

// Σ C(n, i) / 2^n for i = 0 … k. Exact for the small n it is used for: every product is an integer
// over 2^n.
double binomial_tail(std::int64_t k, std::int64_t n) {
  double term = std::ldexp(1.0, -static_cast<int>(n));
  double sum = term;
  for (std::int64_t i = 1; i <= k; ++i) {
    term = term * static_cast<double>(n - i + 1) / static_cast<double>(i);
    sum += term;
  }
  return sum;
}

// The classes of the largest and the second largest logit.
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

}  // namespace

McNemar mcnemar(std::int64_t only_parent, std::int64_t only_candidate) {
  const std::int64_t discordant = only_parent + only_candidate;
  if (discordant < kExactMcNemarBelow) {
    return {std::min(1.0, 2 * binomial_tail(std::min(only_parent, only_candidate), discordant)),
            true};
  }
  const double excess =
      std::max(0.0, std::abs(static_cast<double>(only_parent - only_candidate)) - 1);
  const double chi_square = excess * excess / static_cast<double>(discordant);
  return {std::erfc(std::sqrt(chi_square / 2)), false};
}

double margin_snr_db(const Logits& parent, const Logits& candidate) {
  check_same_examples(parent, candidate);
  HONE_ASSERT(parent.classes >= 2, "a margin needs two classes, not {}", parent.classes);
  double signal = 0, noise = 0;
  for (std::int64_t i = 0; i < parent.examples(); ++i) {
    const std::span<const float> p = parent.row(i), c = candidate.row(i);
    const auto [first, second] = top_two(p);
    const double parent_margin = static_cast<double>(p[first]) - p[second];
    const double error = (static_cast<double>(c[first]) - c[second]) - parent_margin;
    signal += parent_margin * parent_margin;
    noise += error * error;
  }
  if (noise == 0) return std::numeric_limits<double>::infinity();
  return 10 * std::log10(signal / noise);
}

Comparison compare(const Logits& parent, const Logits& candidate,
                   std::span<const std::int32_t> labels) {
  check_same_examples(parent, candidate);
  HONE_ASSERT(static_cast<std::size_t>(parent.examples()) == labels.size(),
              "{} rows of logits, {} labels", parent.examples(), labels.size());
  check_labels(labels, parent.classes);
  const std::vector<std::int32_t> before = predictions(parent), after = predictions(candidate);
  Comparison result;
  result.examples = parent.examples();
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const bool was_right = before[i] == labels[i], is_right = after[i] == labels[i];
    result.flips += before[i] != after[i];
    result.both_right += was_right && is_right;
    result.both_wrong += !was_right && !is_right;
    result.only_parent += was_right && !is_right;
    result.only_candidate += !was_right && is_right;
  }
  result.flip_share = static_cast<double>(result.flips) / static_cast<double>(result.examples);
  result.flip_interval = wilson_interval(result.flips, result.examples);
  result.mcnemar = mcnemar(result.only_parent, result.only_candidate);
  result.margin_snr_db = margin_snr_db(parent, candidate);
  return result;
}

namespace {

// Tango's score: how many standard errors, under the hypothesis that the candidate is right `change` more often than the
// parent, the observed difference lies above it.
double tango_score(const Comparison& c, double change) {
  const double n = static_cast<double>(c.examples), gained = static_cast<double>(c.only_candidate),
               lost = static_cast<double>(c.only_parent);
  // The likeliest share of lost examples under the hypothesis: the root of a q² + b q + d = 0.
  const double a = 2 * n, b = (2 * n - gained + lost) * change - gained - lost,
               d = -lost * change * (1 - change);
  const double q = (std::sqrt(std::max(0.0, b * b - 4 * a * d)) - b) / (2 * a);
  const double variance = n * (2 * q + change * (1 - change));
  const double excess = gained - lost - n * change;
  if (variance <= 0) return excess == 0 ? 0 : std::copysign(HUGE_VAL, excess);
  return excess / std::sqrt(variance);
}

// The score falls as the hypothesis rises.
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

std::optional<std::int64_t> examples_needed(const Comparison& comparison) {
  if (comparison.only_parent == comparison.only_candidate) return std::nullopt;
  const double examples = static_cast<double>(comparison.examples);
  const double discordant =
      static_cast<double>(comparison.only_parent + comparison.only_candidate) / examples;
  const double change = comparison.accuracy_change();
  const double root =
      kNormal975 * std::sqrt(discordant) + kNormal80 * std::sqrt(discordant - change * change);
  return static_cast<std::int64_t>(std::ceil(root * root / (change * change)));
}

namespace {

// "about": two significant digits, rounded up.
std::int64_t rounded_up(std::int64_t count) {
  std::int64_t unit = 1;
  while (count / unit >= 100) unit *= 10;
  return (count + unit - 1) / unit * unit;
}

}  // namespace

std::string verdict(const Comparison& comparison) {
  if (comparison.flips == 0) return "no prediction differs";
  const double points = 100 * comparison.accuracy_change();
  const double p = comparison.mcnemar.p_value;
  const std::string test =
      fmt::format("p {}, McNemar, {}", p == 0 ? "< 1e-300" : fmt::format("= {:.2g}", p),
                  comparison.mcnemar.exact ? "exact" : "chi-square");
  if (comparison.mcnemar.p_value < 0.05) {
    return fmt::format("{} by {:.2f} points ({})", points > 0 ? "better" : "worse",
                       std::abs(points), test);
  }
  const std::optional<std::int64_t> needed = examples_needed(comparison);
  if (!needed) return fmt::format("no difference found: the accuracies are equal ({})", test);
  return fmt::format(
      "no difference found ({:+.2f} points, {}); about {} more examples would be needed", points,
      test, grouped(rounded_up(*needed - comparison.examples)));
}

Gate gate(const Comparison& comparison, double max_drop) {
  const Interval change = accuracy_change_interval(comparison);
  Gate gate{max_drop, {-change.high, -change.low}, -change.low <= max_drop, {}};
  const double drop = 0 - comparison.accuracy_change();  // not -0
  gate.message = fmt::format(
      "lost {:.2f} points of accuracy (95 %: {:.2f} to {:.2f}); {:.2f} are allowed: {}", 100 * drop,
      100 * gate.drop.low, 100 * gate.drop.high, 100 * max_drop, gate.passed ? "passed" : "failed");
  if (gate.passed || drop >= max_drop) return gate;
  // With the same shares of gained and lost examples the interval shrinks with the root of their number; where none
  // was lost it ends at z² / (n + z²).
  Comparison more = comparison;
  while (-accuracy_change_interval(more).low > max_drop) {
    more.examples *= 2;
    more.only_candidate *= 2;
    more.only_parent *= 2;
  }
  gate.message += fmt::format("; about {} examples instead of {} could show it",
                              grouped(more.examples), grouped(comparison.examples));
  return gate;
}

}  // namespace hone
