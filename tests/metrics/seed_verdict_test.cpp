#include "hone/metrics/seed_verdict.h"

#include <gtest/gtest.h>

#include <cmath>

#include "hone/base/random.h"
#include "hone/metrics/verdict_text.h"
#include "tests/metrics/counted.h"

namespace hone {
namespace {

using testing::counted;

/// Returns seeds with `examples` examples each. Each seed has numbers of lost and gained examples.
SeedChanges seeds_on(std::int64_t examples, const std::vector<std::pair<int, int>>& seeds) {
  std::vector<Comparison> comparisons;
  std::vector<double> before, after;
  for (const auto& [lost, gained] : seeds) {
    comparisons.push_back(counted(examples, lost, gained));
    before.push_back(0.9);
    after.push_back(0.9 + comparisons.back().accuracy_change());
  }
  double flips = 0;
  for (const Comparison& c : comparisons)
    flips += c.flip_share / static_cast<double>(comparisons.size());
  return {.before = before,
          .after = after,
          .changes = testing::changes_of(comparisons),
          .notes = seed_notes(kAccuracy, flips)};
}

TEST(VerdictOfSeeds, IsUnclearUnderFive) {
  const Verdict v = verdict_of_seeds(seeds_on(1000, {{3, 3}, {2, 2}, {2, 3}, {1, 1}}));
  EXPECT_EQ(v.conclusion, Conclusion::inconclusive);
  EXPECT_FALSE(v.change_interval);
  EXPECT_EQ(v.seeds_needed, 5);
  EXPECT_EQ(
      v.summary,
      "accuracy changed by +0.00, +0.00, +0.10, +0.00 points, inconclusive with 4 seeds for the "
      "allowed drop of 0.50; 0.43% of predictions changed on average; not every seed shows "
      "it, and a mean needs at least 5 seeds");
}

// The half widths over seeds and over texts add up in quadrature.
TEST(VerdictOfSeeds, FollowsTheIntervalFromFiveOn) {
  const SeedChanges even = seeds_on(20000, {{30, 50}, {50, 30}, {30, 50}, {50, 30}, {40, 40}});
  const Verdict kept = verdict_of_seeds(even);
  EXPECT_EQ(kept.conclusion, Conclusion::within_limit);
  const double of_seeds = 2.7764451 * 0.001 / std::sqrt(5.0);  // deviation of the changes: 0.001
  double of_texts = 0;
  for (const MetricChange& c : even.changes) of_texts += (c.interval->high - c.change) / 5;
  EXPECT_NEAR(kept.change_interval->high, std::hypot(of_seeds, of_texts), 1e-9);
  EXPECT_TRUE(kept.summary.ends_with("; 0.40% of predictions changed on average")) << kept.summary;
  const Verdict narrow = verdict_of_seeds(even, 0.0015);
  EXPECT_EQ(narrow.conclusion, Conclusion::inconclusive);
  EXPECT_GT(*narrow.seeds_needed, 5);
  const SeedChanges worse =
      seeds_on(20000, {{1010, 10}, {1210, 10}, {1010, 10}, {1210, 10}, {1110, 10}});
  EXPECT_EQ(verdict_of_seeds(worse).conclusion, Conclusion::exceeds_limit);
}

// Equal changes say nothing about other seeds, but each verdict holds for its own seed.
TEST(VerdictOfSeeds, StandsOnEachWhereAllChangeByTheSame) {
  const Verdict lost = verdict_of_seeds(seeds_on(1000, std::vector(5, std::pair(490, 10))));
  EXPECT_EQ(lost.conclusion, Conclusion::exceeds_limit);
  EXPECT_EQ(lost.basis, VerdictBasis::each_seed);
  const Interval alone = accuracy_change_interval(counted(1000, 490, 10));
  EXPECT_EQ(lost.change_interval->low, alone.low);
  EXPECT_EQ(lost.change_interval->high, alone.high);
  EXPECT_EQ(
      lost.summary,
      "accuracy changed by -48.00 points with each of 5 seeds (95% CI for these seeds on other "
      "examples: -51.20 to -44.77), more than the allowed drop of 0.50; 50.00% of predictions "
      "changed on average; every seed shows it");
  // Five seeds without change are within the limit only if each has enough texts.
  EXPECT_EQ(verdict_of_seeds(seeds_on(20000, std::vector(5, std::pair(10, 10)))).conclusion,
            Conclusion::within_limit);
  const Verdict unclear = verdict_of_seeds(seeds_on(1000, std::vector(6, std::pair(10, 10))));
  EXPECT_EQ(unclear.conclusion, Conclusion::inconclusive);
  EXPECT_LT(unclear.change_interval->low, -0.005);
  EXPECT_EQ(unclear.examples_needed, verdict(counted(1000, 10, 10)).examples_needed);
  EXPECT_TRUE(unclear.summary.starts_with("accuracy changed by +0.00 points with each of 6 seeds"))
      << unclear.summary;
  EXPECT_NE(unclear.summary.find("would show each seed to be within the limit"), std::string::npos)
      << unclear.summary;
  // Equal changes, but different verdicts: one seed has more disagreement.
  const SeedChanges unequal = seeds_on(4000, {{22, 20}, {22, 20}, {22, 20}, {22, 20}, {602, 600}});
  EXPECT_EQ(verdict(unequal.changes.front()).conclusion, Conclusion::within_limit);
  EXPECT_EQ(verdict_of_seeds(unequal).conclusion, Conclusion::inconclusive);
  EXPECT_EQ(verdict_of_seeds(unequal).examples_needed,
            verdict(unequal.changes.back()).examples_needed);
}

// The verdict of several seeds is at least as strong as those of all single seeds.
TEST(VerdictOfSeeds, IsNoWeakerThanEverySeedAlone) {
  const SeedChanges far = seeds_on(1000, {{60, 10}, {500, 10}, {900, 0}, {60, 10}, {70, 10}});
  const Verdict lost = verdict_of_seeds(far);
  EXPECT_EQ(lost.conclusion, Conclusion::exceeds_limit);
  EXPECT_EQ(lost.basis, VerdictBasis::each_seed) << "they spread too wide for their mean";
  for (const MetricChange& c : far.changes) {
    EXPECT_EQ(verdict(c).conclusion, Conclusion::exceeds_limit);
    EXPECT_LE(lost.change_interval->low, c.interval->low);
    EXPECT_GE(lost.change_interval->high, c.interval->high);
  }
  EXPECT_TRUE(
      lost.summary.starts_with("accuracy changed by -31.00 points on average over 5 seeds (95% CI "
                               "for these seeds on other examples: "))
      << lost.summary;
  const Verdict two = verdict_of_seeds(seeds_on(1000, {{490, 10}, {480, 10}}));
  EXPECT_EQ(two.conclusion, Conclusion::exceeds_limit);
  EXPECT_FALSE(two.change_interval);
  EXPECT_FALSE(two.seeds_needed);
  EXPECT_EQ(two.summary,
            "accuracy changed by -48.00, -47.00 points with 2 seeds, more than the allowed drop of "
            "0.50; 49.50% of predictions changed on average; every seed shows it, for these seeds "
            "only");
  EXPECT_EQ(verdict_of_seeds(seeds_on(20000, {{10, 10}, {12, 10}})).conclusion,
            Conclusion::within_limit);
  EXPECT_EQ(verdict_of_seeds(seeds_on(20000, {{10, 10}, {900, 10}})).conclusion,
            Conclusion::inconclusive);
}

// Whichever grounds the verdict uses, each of the two conclusions is false in at most 2.5% of cases. They concern the
// mean over all seeds or the worst of these seeds. The true changes of the seeds are near the margin, and errors are
// shared between seeds or partly independent. 0.0025 is one standard error of 4000 draws.
TEST(VerdictOfSeeds, IsFalseAsSeldomAsItSays) {
  constexpr double kMargin = 0.005, kExamples = 3000;
  RandomSequence random(9, stream_of("seeds"));
  for (const double spread : {0.0, 0.0005, 0.002, 0.01}) {
    for (const double alike : {0.7, 1.0}) {
      int kept = 0, lost = 0;
      for (int draw = 0; draw < 4000; ++draw) {
        const double shared = random.normal();
        double least = 1, most = -1;
        std::vector<std::pair<int, int>> counts;
        for (int seed = 0; seed < 5; ++seed) {
          const double change = -kMargin + spread * random.normal();
          least = std::min(least, change);
          most = std::max(most, change);
          const double noise = std::sqrt(alike) * shared + std::sqrt(1 - alike) * random.normal();
          const double disagree = 0.04, deviation = std::sqrt(disagree - change * change);
          const double seen = change * kExamples + std::sqrt(kExamples) * deviation * noise;
          counts.emplace_back(std::lround((disagree * kExamples - seen) / 2),
                              std::lround((disagree * kExamples + seen) / 2));
        }
        const Verdict v = verdict_of_seeds(seeds_on(static_cast<std::int64_t>(kExamples), counts));
        const bool of_these = v.basis == VerdictBasis::each_seed;
        kept += v.conclusion == Conclusion::within_limit && !(of_these && least >= -kMargin);
        lost += v.conclusion == Conclusion::exceeds_limit && !(of_these && most < -kMargin);
      }
      EXPECT_LT(kept / 4000.0, 0.025 + 3 * 0.0025) << spread << " " << alike;
      EXPECT_LT(lost / 4000.0, 0.025 + 3 * 0.0025) << spread << " " << alike;
    }
  }
}

// Five seeds that agree on 52 texts show nothing about other texts.
TEST(VerdictOfSeeds, KnowsThatItsTextsAreFew) {
  const Verdict v = verdict_of_seeds(seeds_on(52, {{2, 5}, {2, 4}, {2, 5}, {1, 4}, {3, 5}}));
  EXPECT_EQ(v.conclusion, Conclusion::inconclusive);
  EXPECT_LT(v.change_interval->low, 0);
  EXPECT_FALSE(v.seeds_needed);
  EXPECT_GT(*v.examples_needed, 52);
  EXPECT_NE(v.summary.find("no number of seeds is sufficient on these examples"), std::string::npos)
      << v.summary;
}

/// Returns changes of R² on `texts` texts each, with intervals of `half` on each side.
SeedChanges ratios(const std::vector<double>& changed, double half, std::int64_t texts = 400) {
  SeedChanges changes{.notes = "; predictions changed by 0.02 on average"};
  for (const double change : changed) {
    changes.changes.push_back(ratio_change(kR2, texts, 1, {change, half, texts, texts}));
    changes.before.push_back(-0.2);
    changes.after.push_back(-0.2 + change);
  }
  return changes;
}

TEST(VerdictOfSeeds, JudgesTheFigureOfAnyTask) {
  const Verdict kept = verdict_of_seeds(ratios({0.001, -0.001, 0.001, -0.001, 0}, 0.003));
  EXPECT_EQ(kept.metric, kR2);
  EXPECT_EQ(kept.conclusion, Conclusion::within_limit);
  const double of_seeds = 2.7764451 * 0.001 / std::sqrt(5.0);
  EXPECT_NEAR(kept.change_interval->high, std::hypot(of_seeds, 0.003), 1e-9);
  EXPECT_TRUE(kept.summary.starts_with(
      "R² changed by +0.00 points on average over 5 seeds (95% CI for other seeds and examples: "))
      << kept.summary;
  EXPECT_TRUE(kept.summary.ends_with("; predictions changed by 0.02 on average")) << kept.summary;
  // R² has no lower limit, unlike a share.
  const Verdict lost = verdict_of_seeds(ratios({-1.2, -1.3, -1.25, -1.2, -1.3}, 0.003));
  EXPECT_EQ(lost.conclusion, Conclusion::exceeds_limit);
  EXPECT_NEAR(lost.change, -1.25, 1e-12);
  const Verdict unclear = verdict_of_seeds(ratios({0.001, -0.001, 0.001, -0.001, 0}, 0.015));
  EXPECT_EQ(unclear.conclusion, Conclusion::inconclusive);
  EXPECT_GT(*unclear.examples_needed, 400);
  const Verdict two = verdict_of_seeds(ratios({0.01, 0.011}, 0.003));
  EXPECT_EQ(two.basis, VerdictBasis::each_seed);
  EXPECT_EQ(two.summary,
            "R² changed by +1.00, +1.10 points with 2 seeds, within the allowed drop of 0.50; "
            "predictions changed by 0.02 on average; every seed shows it, for these seeds only");
}

TEST(VerdictOfSeeds, SaysWhereAChangeIsNotDefined) {
  SeedChanges changes = ratios({0.001, -0.001}, 0.003);
  changes.changes[1] = {.metric = kR2, .examples = 400, .change = std::nan("")};
  const Verdict v = verdict_of_seeds(changes);
  EXPECT_EQ(v.conclusion, Conclusion::inconclusive);
  EXPECT_EQ(v.summary, "inconclusive: R² is not defined with 1 of 2 seeds");
}

}  // namespace
}  // namespace hone
