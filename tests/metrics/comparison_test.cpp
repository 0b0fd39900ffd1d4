#include "hone/metrics/comparison.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "hone/base/error.h"
#include "hone/base/random.h"

namespace hone {
namespace {

std::vector<float> normal_logits(std::size_t count, std::uint64_t stream) {
  RandomSequence random(7, stream);
  std::vector<float> result(count);
  for (float& value : result) value = static_cast<float>(random.normal());
  return result;
}

/// Returns the comparison of `examples` examples with these disagreements.
Comparison disagreeing(std::int64_t examples, std::int64_t only_baseline,
                       std::int64_t only_candidate) {
  Comparison result;
  result.examples = examples;
  result.flips = only_baseline + only_candidate;
  result.only_baseline = only_baseline;
  result.only_candidate = only_candidate;
  result.mcnemar_p = mcnemar_p(only_baseline, only_candidate);
  return result;
}

TEST(McNemar, IsExactForFewDisagreements) {
  // 2 (C(12,0) + C(12,1) + C(12,2)) / 2^12, exact in double.
  EXPECT_EQ(mcnemar_p(10, 2), 158.0 / 4096);
  EXPECT_EQ(mcnemar_p(0, 0), 1);
  EXPECT_EQ(mcnemar_p(5, 5), 1);
  EXPECT_EQ(mcnemar_p(6, 0), 2.0 / 64);
}

// Sums the binomial tail from its largest term down, using logarithms of factorials. The relative error is 1e-9.
double tail_from_logarithms(std::int64_t k, std::int64_t n) {
  double sum = 0;
  for (std::int64_t i = k; i >= 0; --i) {
    const double x = static_cast<double>(i), all = static_cast<double>(n);
    const double term = std::exp(std::lgamma(all + 1) - std::lgamma(x + 1) -
                                 std::lgamma(all - x + 1) - all * std::log(2.0));
    sum += term;
    if (term < 1e-20 * sum) break;
  }
  return sum;
}

TEST(McNemar, IsExactForManyToo) {
  for (const auto& [a, b] : {std::pair<std::int64_t, std::int64_t>{121, 59},
                             {530, 470},
                             {5200, 4800},
                             {60000, 58000},
                             {900, 100}}) {
    const double expected = 2 * tail_from_logarithms(b, a + b);
    EXPECT_NEAR(mcnemar_p(a, b), expected, 1e-8 * expected) << a << " " << b;
    EXPECT_EQ(mcnemar_p(a, b), mcnemar_p(b, a));
  }
  EXPECT_EQ(mcnemar_p(100000, 100000), 1);
  // Below every double, and no intermediate result overflows.
  EXPECT_EQ(mcnemar_p(200000, 3), 0);
}

TEST(MarginSnr, IsInfiniteForIdenticalLogits) {
  const std::vector<float> logits = normal_logits(30, 0);
  EXPECT_EQ(margin_snr_db({logits, 3}, {logits, 3}), std::numeric_limits<double>::infinity());
}

TEST(MarginSnr, OfTwoClassesByHand) {
  const std::vector<float> baseline = {0, 3, /**/ 4, 0}, candidate = {0, 2, /**/ 5, 0};
  // Margins 3 and 4, errors 1 and 1: 10 log10(25 / 2).
  EXPECT_NEAR(margin_snr_db({baseline, 2}, {candidate, 2}), 10 * std::log10(12.5), 1e-14);
}

TEST(MarginSnr, OfManyClassesComparesTheParentsTopTwo) {
  const std::vector<float> baseline = {9, 1, 5}, candidate = {7, 100, 5};
  // Baseline: 9 - 5 = 4; candidate, with the same classes: 7 - 5 = 2. The class with logit 100 does not count.
  EXPECT_NEAR(margin_snr_db({baseline, 3}, {candidate, 3}), 10 * std::log10(16.0 / 4.0), 1e-14);
}

TEST(MarginSnr, ForgetsAShiftOfAllLogits) {
  const std::vector<float> baseline = {1, 2, 3, 4}, candidate = {1, 2.5, 3, 4};
  std::vector<float> shifted = candidate;
  for (float& value : shifted) value += 64;
  EXPECT_EQ(margin_snr_db({baseline, 2}, {shifted, 2}),
            margin_snr_db({baseline, 2}, {candidate, 2}));
}

TEST(MarginSnr, HalvingTheErrorGainsSixDecibels) {
  const std::vector<float> baseline = normal_logits(2000, 1), noise = normal_logits(2000, 2);
  std::vector<float> coarse = baseline, fine = baseline;
  for (std::size_t i = 0; i < noise.size(); ++i) {
    coarse[i] += 0.5f * noise[i];
    fine[i] += 0.25f * noise[i];
  }
  // 20 log10(2), up to the float rounding of the sums: errors of 2^-24 relative to noise of 2^-2, averaged.
  EXPECT_NEAR(margin_snr_db({baseline, 4}, {fine, 4}) - margin_snr_db({baseline, 4}, {coarse, 4}),
              20 * std::log10(2.0), 1e-5);
}

TEST(Compare, CountsByHand) {
  //                                   right      right      wrong      wrong (both, differently)
  const std::vector<float> baseline = {1, 0, 0, /**/ 1, 0, 0, /**/ 0, 1, 0, /**/ 0, 1, 0};
  const std::vector<float> candidate = {1, 0, 0, /**/ 0, 1, 0, /**/ 1, 0, 0, /**/ 0, 0, 1};
  const std::vector<std::int32_t> labels = {0, 0, 0, 0};
  const Comparison result = compare({baseline, 3}, {candidate, 3}, labels);
  EXPECT_EQ(result.examples, 4);
  EXPECT_EQ(result.flips, 3);
  EXPECT_EQ(result.flip_share, 0.75);
  EXPECT_EQ(result.both_right, 1);
  EXPECT_EQ(result.only_baseline, 1);
  EXPECT_EQ(result.only_candidate, 1);
  EXPECT_EQ(result.both_wrong, 1);
  EXPECT_EQ(result.accuracy_change(), 0);
  EXPECT_EQ(result.mcnemar_p, 1);
}

TEST(Compare, IdenticalModelsDoNotDiffer) {
  const std::vector<float> logits = normal_logits(200, 3);
  const std::vector<std::int32_t> labels(100, 1);
  const Comparison result = compare({logits, 2}, {logits, 2}, labels);
  EXPECT_EQ(result.flips, 0);
  EXPECT_EQ(result.both_right + result.both_wrong, 100);
}

TEST(Compare, RefusesLabelsThatAreNoClass) {
  const std::vector<float> logits = {0, 1};
  EXPECT_THROW(compare({logits, 2}, {logits, 2}, std::vector<std::int32_t>{2}), UserError);
}

// Searches for the share of lost examples that maximizes the likelihood if gained - lost = `change`.
double likeliest_lost_share(const Comparison& c, double change) {
  const auto likelihood = [&](double lost) {
    const auto term = [](std::int64_t count, double share) {
      return count == 0 ? 0 : static_cast<double>(count) * std::log(share);
    };
    return term(c.only_candidate, lost + change) + term(c.only_baseline, lost) +
           term(c.examples - c.only_candidate - c.only_baseline, 1 - 2 * lost - change);
  };
  double low = std::max(0.0, -change), high = (1 - change) / 2;
  for (int i = 0; i < 200; ++i) {
    const double left = low + (high - low) / 3, right = high - (high - low) / 3;
    (likelihood(left) < likelihood(right) ? low : high) =
        likelihood(left) < likelihood(right) ? left : right;
  }
  return (low + high) / 2;
}

// At both ends the score, computed from the constrained likelihood, is 1.96.
TEST(AccuracyChangeInterval, EndsWhereTheScoreTestRejects) {
  for (const auto& [lost, gained] : {std::pair{12, 2}, {2, 12}, {30, 31}, {1, 0}}) {
    const Comparison c = disagreeing(200, lost, gained);
    const Interval interval = accuracy_change_interval(c);
    for (const double change : {interval.low, interval.high}) {
      const double q = likeliest_lost_share(c, change);
      const double score =
          (gained - lost - 200 * change) / std::sqrt(200 * (2 * q + change * (1 - change)));
      EXPECT_NEAR(std::abs(score), 1.96, 1e-4) << lost << " " << gained << " " << change;
    }
    EXPECT_LT(interval.low, c.accuracy_change());
    EXPECT_GT(interval.high, c.accuracy_change());
  }
}

TEST(AccuracyChangeInterval, HasAWidthWhereNothingDiffers) {
  const Interval interval = accuracy_change_interval(disagreeing(1000, 0, 0));
  const double end = 1.959964 * 1.959964 / (1000 + 1.959964 * 1.959964);
  EXPECT_NEAR(interval.high, end, 1e-8);
  EXPECT_NEAR(interval.low, -end, 1e-8);
}

TEST(AccuracyChangeInterval, TurnsRoundWithTheModels) {
  const Interval one = accuracy_change_interval(disagreeing(500, 20, 7)),
                 other = accuracy_change_interval(disagreeing(500, 7, 20));
  EXPECT_NEAR(one.low, -other.high, 1e-12);
  EXPECT_NEAR(one.high, -other.low, 1e-12);
}

// Bentur et al. (2009), as tabulated by Fagerland, Lydersen and Laake (2014).
TEST(AccuracyChangeInterval, AgreesWithPublishedOnes) {
  const Interval bentur = accuracy_change_interval(disagreeing(21, 7, 1));
  EXPECT_NEAR(bentur.low, -0.517, 5e-4);
  EXPECT_NEAR(bentur.high, -0.026, 5e-4);
}

// For the hypothesis of no change the score equals McNemar's, without continuity correction.
TEST(TangoScore, IsMcNemarsWhereNothingChanges) {
  EXPECT_NEAR(tango_score(disagreeing(100, 12, 2), 0), -10 / std::sqrt(14.0), 1e-12);
  EXPECT_EQ(tango_score(disagreeing(100, 0, 0), 0), 0);
  EXPECT_EQ(tango_score(Comparison{}, -0.005), 0);
}

}  // namespace
}  // namespace hone
