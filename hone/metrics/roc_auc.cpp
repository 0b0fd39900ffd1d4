#include "hone/metrics/roc_auc.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "hone/base/error.h"

namespace hone {
namespace {

// How far the area θ is from the one that was seen, in standard deviations under θ, less 1.96; negative inside the
// interval.
double excess(double theta, double auc, double positives, double negatives) {
  const double n = (positives + negatives) / 2 - 1;
  const double variance = theta * (1 - theta) *
                          (1 + n * ((1 - theta) / (2 - theta) + theta / (1 + theta))) /
                          (positives * negatives);
  return std::abs(auc - theta) - kNormal975 * std::sqrt(variance);
}

// The end of the interval between `inside` and `outside`.
double end_between(double inside, double outside, double auc, double positives, double negatives) {
  // Doubles in [0, 1] are halved apart in fewer steps than this.
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

RocAuc roc_auc(std::span<const double> scores, std::span<const char> positive, double evidence) {
  HONE_ASSERT(scores.size() == positive.size(), "{} scores, {} labels", scores.size(),
              positive.size());
  const std::int64_t positives = std::ranges::count_if(positive, [](char yes) { return yes != 0; });
  const std::int64_t negatives = static_cast<std::int64_t>(positive.size()) - positives;
  const bool defined = positives > 0 && negatives > 0 &&
                       std::ranges::none_of(scores, [](double s) { return std::isnan(s); });
  if (!defined) return {std::numeric_limits<double>::quiet_NaN(), {0, 1}};

  std::vector<std::size_t> order(scores.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) { return scores[a] < scores[b]; });
  // Twice the number of pairs that are in order: a tie counts 1. Whole numbers up to n²/2, hence exact.
  std::int64_t twice_won = 0, negatives_below = 0;
  for (std::size_t begin = 0; begin < order.size();) {
    std::size_t end = begin;
    std::int64_t tied_positives = 0;
    for (; end < order.size() && scores[order[end]] == scores[order[begin]]; ++end)
      tied_positives += positive[order[end]] != 0 ? 1 : 0;
    const std::int64_t tied_negatives = static_cast<std::int64_t>(end - begin) - tied_positives;
    twice_won += tied_positives * (2 * negatives_below + tied_negatives);
    negatives_below += tied_negatives;
    begin = end;
  }
  const double auc = static_cast<double>(twice_won) /
                     (2 * static_cast<double>(positives) * static_cast<double>(negatives));
  return {auc, auc_interval(auc, positives, negatives, evidence)};
}

}  // namespace hone
