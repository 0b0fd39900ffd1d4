#include "hone/metrics/roc_auc.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "hone/base/error.h"

namespace hone {
namespace {

// Returns the distance of the area θ from the observed one, minus 1.96 standard deviations under θ; negative inside the
// interval.
double excess(double theta, double auc, double positives, double negatives) {
  const double n = (positives + negatives) / 2 - 1;
  const double variance = theta * (1 - theta) *
                          (1 + n * ((1 - theta) / (2 - theta) + theta / (1 + theta))) /
                          (positives * negatives);
  return std::abs(auc - theta) - kNormal975 * std::sqrt(variance);
}

// Returns the end of the interval between `inside` and `outside`.
double end_between(double inside, double outside, double auc, double positives, double negatives) {
  // Bisection of [0, 1] reaches the precision of doubles in fewer steps.
  for (int step = 0; step < 60; ++step) {
    const double middle = (inside + outside) / 2;
    (excess(middle, auc, positives, negatives) <= 0 ? inside : outside) = middle;
  }
  return inside;
}

}  // namespace

Interval auc_interval(double auc, std::int64_t positives, std::int64_t negatives, double evidence) {
  HONE_ASSERT(0 <= auc && auc <= 1 && positives > 0 && negatives > 0, "{} of {} and {}", auc,
              positives, negatives);
  const double m = evidence * static_cast<double>(positives),
               n = evidence * static_cast<double>(negatives);
  return {auc == 0 ? 0 : end_between(auc, 0, auc, m, n),
          auc == 1 ? 1 : end_between(auc, 1, auc, m, n)};
}

namespace {

/// Pairs of a positive and a negative example that the scores order correctly.
struct Pairs {
  std::int64_t positives = 0, negatives = 0;
  /// (examples): twice the number of such pairs with each example; a tie counts 1. Empty if the area is not defined.
  std::vector<std::int64_t> twice_won;

  double area() const {
    if (twice_won.empty()) return std::numeric_limits<double>::quiet_NaN();
    // Each pair is counted for both of its examples. Whole numbers up to n², hence exact.
    const std::int64_t both = std::accumulate(twice_won.begin(), twice_won.end(), std::int64_t{0});
    return static_cast<double>(both / 2) /
           (2 * static_cast<double>(positives) * static_cast<double>(negatives));
  }
};

Pairs pairs_of(std::span<const double> scores, std::span<const char> positive) {
  HONE_ASSERT(scores.size() == positive.size(), "{} scores, {} labels", scores.size(),
              positive.size());
  Pairs pairs;
  pairs.positives = std::ranges::count_if(positive, [](char yes) { return yes != 0; });
  pairs.negatives = std::ssize(positive) - pairs.positives;
  if (pairs.positives == 0 || pairs.negatives == 0 ||
      std::ranges::any_of(scores, [](double s) { return std::isnan(s); }))
    return pairs;
  pairs.twice_won.resize(scores.size());
  std::vector<std::size_t> order(scores.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) { return scores[a] < scores[b]; });
  std::int64_t positives_below = 0, negatives_below = 0;
  for (std::size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    std::int64_t tied_positives = 0;
    for (; end < order.size() && scores[order[end]] == scores[order[begin]]; ++end)
      tied_positives += positive[order[end]] != 0 ? 1 : 0;
    const std::int64_t tied_negatives = static_cast<std::int64_t>(end - begin) - tied_positives,
                       positives_above = pairs.positives - positives_below - tied_positives;
    for (std::size_t i = begin; i < end; ++i)
      pairs.twice_won[order[i]] = positive[order[i]] != 0 ? 2 * negatives_below + tied_negatives
                                                          : 2 * positives_above + tied_positives;
    positives_below += tied_positives;
    negatives_below += tied_negatives;
  }
  return pairs;
}

}  // namespace

RocAuc roc_auc(std::span<const double> scores, std::span<const char> positive, double evidence) {
  const Pairs pairs = pairs_of(scores, positive);
  const double auc = pairs.area();
  if (std::isnan(auc)) return {auc, {0, 1}};
  return {auc, auc_interval(auc, pairs.positives, pairs.negatives, evidence)};
}

std::vector<double> auc_contributions(std::span<const double> scores,
                                      std::span<const char> positive,
                                      std::span<const std::int32_t> texts) {
  const Pairs pairs = pairs_of(scores, positive);
  const double auc = pairs.area();
  std::vector<double> contributions(scores.size(), auc);
  if (std::isnan(auc)) return contributions;
  // The number of negative and of positive examples of each text.
  std::vector<std::array<std::int64_t, 2>> rows(scores.size());
  const auto rows_like = [&](std::size_t i) -> std::int64_t& {
    return rows[texts.empty() ? i : static_cast<std::size_t>(texts[i])][positive[i] != 0];
  };
  for (std::size_t i = 0; i < contributions.size(); ++i) ++rows_like(i);
  for (std::size_t i = 0; i < contributions.size(); ++i) {
    const std::int64_t own = positive[i] != 0 ? pairs.positives : pairs.negatives,
                       others = positive[i] != 0 ? pairs.negatives : pairs.positives,
                       left = own - rows_like(i);
    const double won = static_cast<double>(pairs.twice_won[i]) / (2 * static_cast<double>(others));
    contributions[i] = left == 0 ? std::numeric_limits<double>::quiet_NaN()
                                 : (won - auc) / static_cast<double>(left);
  }
  return contributions;
}

}  // namespace hone
