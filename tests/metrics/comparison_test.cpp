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

/// What `compare` would count on `examples` examples.
Comparison counted(std::int64_t examples, std::int64_t only_parent, std::int64_t only_candidate) {
  Comparison result;
  result.examples = examples;
  result.flips = only_parent + only_candidate;
  result.only_parent = only_parent;
  result.only_candidate = only_candidate;
  result.mcnemar = mcnemar(only_parent, only_candidate);
  return result;
}

TEST(McNemar, IsExactForFewDisagreements) {
  // 2 (C(12,0) + C(12,1) + C(12,2)) / 2^12; all of it exact in double.
  const McNemar test = mcnemar(10, 2);
  EXPECT_TRUE(test.exact);
  EXPECT_EQ(test.p_value, 158.0 / 4096);
  EXPECT_EQ(mcnemar(0, 0).p_value, 1);
  EXPECT_EQ(mcnemar(5, 5).p_value, 1);
  EXPECT_EQ(mcnemar(6, 0).p_value, 2.0 / 64);
}

TEST(McNemar, UsesChiSquareForMany) {
  // (|121 - 59| - 1)² / 180 = 20.672; the upper tail of chi-square with one degree of freedom
  // there.
  const McNemar test = mcnemar(121, 59);
  EXPECT_FALSE(test.exact);
  EXPECT_NEAR(test.p_value, 5.450e-6, 1e-9);
  EXPECT_EQ(mcnemar(20, 20).p_value, 1);
}

TEST(McNemar, ChiSquareIsNearTheBinomialItStandsFor) {
  // The corrected approximation of a binomial of 25 and more is good to about 0.01 everywhere.
  for (int n : {25, 30, 50}) {
    double term = std::ldexp(1.0, -n), tail = term;
    for (int k = 0; 2 * k < n; ++k) {
      EXPECT_NEAR(mcnemar(k, n - k).p_value, std::min(1.0, 2 * tail), 0.01) << k << " of " << n;
      EXPECT_EQ(mcnemar(k, n - k).p_value, mcnemar(n - k, k).p_value);
      term = term * (n - k) / (k + 1);
      tail += term;
    }
  }
}

TEST(MarginSnr, IsInfiniteForIdenticalLogits) {
  const std::vector<float> logits = normal_logits(30, 0);
  EXPECT_EQ(margin_snr_db({logits, 3}, {logits, 3}), std::numeric_limits<double>::infinity());
}

TEST(MarginSnr, OfTwoClassesByHand) {
  const std::vector<float> parent = {0, 3, /**/ 4, 0}, candidate = {0, 2, /**/ 5, 0};
  // Margins 3 and 4, errors 1 and 1: 10 log10(25 / 2).
  EXPECT_NEAR(margin_snr_db({parent, 2}, {candidate, 2}), 10 * std::log10(12.5), 1e-14);
}

TEST(MarginSnr, OfManyClassesComparesTheParentsTopTwo) {
  const std::vector<float> parent = {9, 1, 5}, candidate = {7, 100, 5};
  // Parent: 9 - 5 = 4; candidate, the same classes: 7 - 5 = 2. The class at 100 has no part in it.
  EXPECT_NEAR(margin_snr_db({parent, 3}, {candidate, 3}), 10 * std::log10(16.0 / 4.0), 1e-14);
}

TEST(MarginSnr, ForgetsAShiftOfAllLogits) {
  const std::vector<float> parent = {1, 2, 3, 4}, candidate = {1, 2.5, 3, 4};
  std::vector<float> shifted = candidate;
  for (float& value : shifted) value += 64;
  EXPECT_EQ(margin_snr_db({parent, 2}, {shifted, 2}), margin_snr_db({parent, 2}, {candidate, 2}));
}

TEST(MarginSnr, HalvingTheErrorGainsSixDecibels) {
  const std::vector<float> parent = normal_logits(2000, 1), noise = normal_logits(2000, 2);
  std::vector<float> coarse = parent, fine = parent;
  for (std::size_t i = 0; i < noise.size(); ++i) {
    coarse[i] += 0.5f * noise[i];
    fine[i] += 0.25f * noise[i];
  }
  // 20 log10(2) up to the float rounding of the sums: errors of 2^-24 against noise of 2^-2,
  // averaged.
  EXPECT_NEAR(margin_snr_db({parent, 4}, {fine, 4}) - margin_snr_db({parent, 4}, {coarse, 4}),
              20 * std::log10(2.0), 1e-5);
}

TEST(Compare, CountsByHand) {
  //                                   right      right      wrong      wrong (both, differently)
  const std::vector<float> parent = {1, 0, 0, /**/ 1, 0, 0, /**/ 0, 1, 0, /**/ 0, 1, 0};
  const std::vector<float> candidate = {1, 0, 0, /**/ 0, 1, 0, /**/ 1, 0, 0, /**/ 0, 0, 1};
  const std::vector<std::int32_t> labels = {0, 0, 0, 0};
  const Comparison result = compare({parent, 3}, {candidate, 3}, labels);
  EXPECT_EQ(result.examples, 4);
  EXPECT_EQ(result.flips, 3);
  EXPECT_EQ(result.flip_share, 0.75);
  EXPECT_EQ(result.both_right, 1);
  EXPECT_EQ(result.only_parent, 1);
  EXPECT_EQ(result.only_candidate, 1);
  EXPECT_EQ(result.both_wrong, 1);
  EXPECT_EQ(result.accuracy_change(), 0);
  EXPECT_EQ(result.mcnemar.p_value, 1);
}

TEST(Compare, IdenticalModelsDoNotDiffer) {
  const std::vector<float> logits = normal_logits(200, 3);
  const std::vector<std::int32_t> labels(100, 1);
  const Comparison result = compare({logits, 2}, {logits, 2}, labels);
  EXPECT_EQ(result.flips, 0);
  EXPECT_EQ(result.both_right + result.both_wrong, 100);
  EXPECT_EQ(verdict(result), "no prediction differs");
}

TEST(Compare, RefusesLabelsThatAreNoClass) {
  const std::vector<float> logits = {0, 1};
  EXPECT_THROW(compare({logits, 2}, {logits, 2}, std::vector<std::int32_t>{2}), UserError);
}

TEST(ExamplesNeeded, FollowsConnorsFormula) {
  // 10 % and 5 % of 1000 disagree: d = 0.15, δ = 0.05; (1.95996 sqrt(0.15) + 0.84162 sqrt(0.1475))²
  // / 0.0025 = 468.6.
  EXPECT_EQ(examples_needed(counted(1000, 100, 50)), 469);
  EXPECT_EQ(examples_needed(counted(1000, 50, 100)), 469);
  EXPECT_FALSE(examples_needed(counted(1000, 50, 50)));
}

TEST(ExamplesNeeded, IsMoreThanThereAreWheneverNothingWasFound) {
  for (int b = 0; b < 60; ++b) {
    for (int c = 0; c < 60; ++c) {
      const Comparison comparison = counted(200, b, c);
      if (b == c || comparison.mcnemar.p_value < 0.05) continue;
      EXPECT_GT(*examples_needed(comparison), 200) << b << " against " << c;
    }
  }
}

TEST(Verdict, NamesWhatWasFound) {
  EXPECT_EQ(verdict(counted(1000, 59, 121)),
            "better by 6.20 points (p = 5.5e-06, McNemar, chi-square)");
  EXPECT_EQ(verdict(counted(1000, 10, 2)), "worse by 0.80 points (p = 0.039, McNemar, exact)");
}

TEST(Verdict, SaysHowManyExamplesWouldSettleIt) {
  // d = 0.01, δ = -0.002: 19 611 examples; 1000 are there; "about" leaves two digits, rounded up.
  EXPECT_EQ(verdict(counted(1000, 6, 4)),
            "no difference found (-0.20 points, p = 0.75, McNemar, exact); about 19 000 more "
            "examples would be needed");
  EXPECT_EQ(verdict(counted(1000, 4, 4)),
            "no difference found: the accuracies are equal (p = 1, McNemar, exact)");
}

// The share of lost examples that makes the counts likeliest when gained - lost = `change`, by search.
double likeliest_lost_share(const Comparison& c, double change) {
  const auto likelihood = [&](double lost) {
    const auto term = [](std::int64_t count, double share) {
      return count == 0 ? 0 : static_cast<double>(count) * std::log(share);
    };
    return term(c.only_candidate, lost + change) + term(c.only_parent, lost) +
           term(c.examples - c.only_candidate - c.only_parent, 1 - 2 * lost - change);
  };
  double low = std::max(0.0, -change), high = (1 - change) / 2;
  for (int i = 0; i < 200; ++i) {
    const double left = low + (high - low) / 3, right = high - (high - low) / 3;
    (likelihood(left) < likelihood(right) ? low : high) =
        likelihood(left) < likelihood(right) ? left : right;
  }
  return (low + high) / 2;
}

// At both ends the score, from the constrained likelihood's own definition, is 1.96.
TEST(AccuracyChangeInterval, EndsWhereTheScoreTestRejects) {
  for (const auto& [lost, gained] : {std::pair{12, 2}, {2, 12}, {30, 31}, {1, 0}}) {
    const Comparison c = counted(200, lost, gained);
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
  const Interval interval = accuracy_change_interval(counted(1000, 0, 0));
  const double end = 1.959964 * 1.959964 / (1000 + 1.959964 * 1.959964);
  EXPECT_NEAR(interval.high, end, 1e-8);
  EXPECT_NEAR(interval.low, -end, 1e-8);
}

TEST(AccuracyChangeInterval, TurnsRoundWithTheModels) {
  const Interval one = accuracy_change_interval(counted(500, 20, 7)),
                 other = accuracy_change_interval(counted(500, 7, 20));
  EXPECT_NEAR(one.low, -other.high, 1e-12);
  EXPECT_NEAR(one.high, -other.low, 1e-12);
}

TEST(Gate, PassesOnlyWhatIsShown) {
  EXPECT_TRUE(gate(counted(10000, 10, 10), 0.005).passed);
  EXPECT_EQ(gate(counted(10000, 10, 10), 0.005).message,
            "lost 0.00 points of accuracy (95 %: -0.10 to 0.10); 0.50 are allowed: passed");
  EXPECT_FALSE(gate(counted(10000, 100, 10), 0.005).passed);
  EXPECT_EQ(gate(counted(10000, 100, 10), 0.005).message,
            "lost 0.90 points of accuracy (95 %: 0.71 to 1.12); 0.50 are allowed: failed");
  // A better candidate passes with nothing allowed.
  EXPECT_TRUE(gate(counted(10000, 10, 100), 0).passed);
}

TEST(Gate, SaysHowManyExamplesCouldShowIt) {
  const Gate few = gate(counted(100, 0, 0), 0.005);
  EXPECT_FALSE(few.passed);
  EXPECT_NE(few.message.find("failed; about 800 examples instead of 100 could show it"),
            std::string::npos)
      << few.message;
}

}  // namespace
}  // namespace hone
