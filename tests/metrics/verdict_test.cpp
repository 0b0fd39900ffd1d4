#include "hone/metrics/verdict.h"

#include <gtest/gtest.h>

#include <cmath>

#include "hone/base/random.h"
#include "hone/metrics/planning.h"
#include "tests/metrics/counted.h"

namespace hone {
namespace {

using testing::chance;
using testing::changes_of;
using testing::counted;
using testing::is_kept;
using testing::is_lost;

// Applies the rule to the interval only. Its ends are found by bisection, to 1e-15.
Conclusion by_interval(const Comparison& c, double margin) {
  const Interval change = accuracy_change_interval(c);
  if (change.low >= -margin) return Conclusion::within_limit;
  return change.high < -margin ? Conclusion::exceeds_limit : Conclusion::inconclusive;
}

TEST(Verdict, FollowsTheIntervalOfTheLoss) {
  int seen[3] = {};
  for (const double margin : {0.0, 0.005, 0.03}) {
    for (int lost = 0; lost < 40; ++lost) {
      for (int gained = 0; gained < 40; ++gained) {
        const Comparison c = counted(400, lost, gained);
        const Verdict v = verdict(c, margin);
        EXPECT_EQ(v.conclusion, by_interval(c, margin)) << lost << " " << gained << " " << margin;
        EXPECT_EQ(v.within_limit(), v.p_value <= 0.025);
        EXPECT_EQ(v.change_interval->low, accuracy_change_interval(c).low);
        ++seen[static_cast<int>(v.conclusion)];
      }
    }
  }
  for (const int count : seen) EXPECT_GT(count, 100);
}

// 36 texts without a difference are no evidence that there is none, and neither are 36 with one loss.
TEST(Verdict, TakesLackOfEvidenceForNothing) {
  for (const int lost : {0, 1}) {
    const Verdict v = verdict(counted(36, lost, 0));
    EXPECT_EQ(v.conclusion, Conclusion::inconclusive);
    EXPECT_NE(v.summary.find("inconclusive with n = 36 "), std::string::npos) << v.summary;
    EXPECT_GT(*v.examples_needed, 500);
  }
  EXPECT_EQ(verdict(counted(0, 0, 0)).conclusion, Conclusion::inconclusive);
  EXPECT_EQ(verdict(counted(0, 0, 0)).summary, "inconclusive: there are no examples");
}

TEST(Verdict, SaysItInASentence) {
  EXPECT_EQ(verdict(counted(10000, 10, 10)).summary,
            "accuracy changed by +0.00 points (95% CI -0.10 to +0.10), within the allowed drop of "
            "0.50; 20 "
            "of 10,000 predictions changed");
  EXPECT_EQ(
      verdict(counted(10000, 100, 10)).summary,
      "accuracy changed by -0.90 points (95% CI -1.12 to -0.71), more than the allowed drop of "
      "0.50; 110 of 10,000 predictions changed");
  // A significant gain or drop is called one.
  const auto says = [](const Verdict& v, const char* words) {
    return v.summary.find(words) != std::string::npos;
  };
  EXPECT_TRUE(says(verdict(counted(10000, 10, 100), 0), "significant gain"));
  EXPECT_FALSE(says(verdict(counted(10000, 10, 100)), "allowed drop"));
  EXPECT_TRUE(says(verdict(counted(10000, 40, 10)), "significant drop"));
  // So is a drop that is not shown to be within the limit.
  EXPECT_TRUE(says(verdict(counted(10000, 70, 30)), "significant drop, inconclusive"));
  // Four predictions improve: the interval excludes zero, but the exact test has p = 0.125.
  EXPECT_GT(accuracy_change_interval(counted(39, 0, 4)).low, 0);
  EXPECT_FALSE(says(verdict(counted(39, 0, 4)), "significant"));
  EXPECT_TRUE(verdict(counted(10000, 0, 0)).summary.ends_with("; no prediction changed"));
}

// The plan assumes the observed change. It aims to show that the change is within the limit or exceeds it, whichever
// was observed.
TEST(Verdict, SaysHowManyWouldDoAndWhatTheyWouldShow) {
  // None of 36 predictions differ, so the plan assumes half a difference in 37.
  const Verdict none = verdict(counted(36, 0, 0));
  EXPECT_EQ(none.examples_needed, planned_examples({0.25 / 37, 0.25 / 37}, 0.005));
  EXPECT_EQ(
      none.summary,
      "accuracy changed by +0.00 points (95% CI -9.64 to +9.64), inconclusive with n = 36 for the "
      "allowed drop of 0.50; no prediction changed; about 4,600 examples would show it to be "
      "within "
      "the limit (power 80%) if both models are equally accurate and differ on one example in 74 "
      "(none was observed)");
  // The net loss is 4 of 36, which is 11 points. More examples would show a loss.
  const Verdict eleven = verdict(counted(36, 6, 2));
  EXPECT_TRUE(eleven.summary.starts_with("accuracy changed by -11.11 points")) << eleven.summary;
  EXPECT_GT(eleven.change_interval->high, 0);
  EXPECT_NE(eleven.summary.find("would show it to exceed the limit"), std::string::npos)
      << eleven.summary;
  EXPECT_EQ(eleven.examples_needed, planned_examples(observed_rates(counted(36, 6, 2)), 0.005));
  // A loss of exactly the margin, and one close to it.
  const Verdict edge = verdict(counted(2000, 10, 0));
  EXPECT_EQ(edge.conclusion, Conclusion::inconclusive);
  EXPECT_FALSE(edge.examples_needed);
  EXPECT_TRUE(edge.summary.ends_with(
      "the observed change equals the limit, so no number of examples is sufficient"))
      << edge.summary;
  const Verdict beside = verdict(counted(199999, 2000, 1000));
  EXPECT_FALSE(beside.examples_needed);
  EXPECT_TRUE(beside.summary.ends_with("too close to the limit for more examples to decide"))
      << beside.summary;
}

// More examples can show the required gain only if it was observed.
TEST(Verdict, PlansForAGainOnlyWhereItWasSeen) {
  const Verdict seen = verdict(counted(400, 4, 12), -0.005);
  EXPECT_EQ(seen.conclusion, Conclusion::inconclusive);
  EXPECT_EQ(seen.examples_needed, planned_examples(observed_rates(counted(400, 4, 12)), -0.005));
  EXPECT_NE(seen.summary.find("would show it to be within the limit"), std::string::npos)
      << seen.summary;
  for (const int gained : {4, 5}) {
    const Verdict less = verdict(counted(400, 4, gained), -0.005);
    EXPECT_EQ(less.conclusion, Conclusion::inconclusive);
    EXPECT_FALSE(less.examples_needed);
    EXPECT_TRUE(less.summary.ends_with(
        "the observed change is below the required gain, so more examples would not show the gain"))
        << less.summary;
  }
}

TEST(Verdict, AsksForMoreExamplesThanThereWere) {
  for (int lost = 0; lost < 60; ++lost) {
    for (int gained = 0; gained < 60; ++gained) {
      const Verdict v = verdict(counted(3000, lost, gained));
      if (v.conclusion != Conclusion::inconclusive) {
        EXPECT_FALSE(v.examples_needed) << lost << " " << gained;
        continue;
      }
      // More than ten times as many examples are not suggested.
      const auto planned = planned_examples(observed_rates(counted(3000, lost, gained)), 0.005);
      EXPECT_EQ(v.examples_needed, planned && *planned <= 30'000 ? planned : std::nullopt)
          << lost << " " << gained;
      EXPECT_GT(v.examples_needed.value_or(3001), 3000) << lost << " " << gained;
    }
  }
}

// For a candidate that loses exactly the margin, each verdict is false in one of forty cases. The score test keeps this
// level on average over rates, not for each rate. With few examples the level may be exceeded by a tenth. This includes
// few differences, such as three gained and none lost, which are within the limit.
TEST(Verdict, IsFalseAsSeldomAsItSays) {
  EXPECT_TRUE(verdict(counted(172, 0, 3)).within_limit());
  for (const std::int64_t n : {172, 500, 2000, 10000}) {
    for (const double gained : {0.003, 0.02, 0.1}) {
      const DisagreementRates rates = {gained + 0.005, gained};
      EXPECT_LT(chance(n, rates, 0.005, is_kept), 0.0285) << n << " " << gained;
      EXPECT_LT(chance(n, rates, 0.005, is_lost), 0.0285) << n << " " << gained;
    }
  }
}

// Repeating every text three times triples the counts, but adds no evidence.
TEST(Verdict, DoesNotGrowSurerByRepetition) {
  for (const int lost : {0, 3, 40, 90}) {
    Comparison once = counted(1000, lost, 20), thrice = counted(3000, 3 * lost, 60);
    ASSERT_NE(verdict(once).p_value, verdict(thrice).p_value);
    thrice.evidence = 1.0 / 3;
    thrice.mcnemar_p = once.mcnemar_p;
    const Verdict a = verdict(once), b = verdict(thrice);
    EXPECT_EQ(a.conclusion, b.conclusion);
    EXPECT_EQ(a.examples_needed, b.examples_needed);
    EXPECT_NEAR(a.p_value, b.p_value, 1e-12);
    EXPECT_NEAR(a.change_interval->low, b.change_interval->low, 1e-12);
    EXPECT_NEAR(a.change_interval->high, b.change_interval->high, 1e-12);
  }
  Comparison repeated = counted(3000, 3, 3);
  repeated.evidence = 1.0 / 30;
  EXPECT_NE(verdict(repeated).summary.find("inconclusive with n = 3,000 (effective 100)"),
            std::string::npos)
      << verdict(repeated).summary;
}

TEST(VerdictsOfChoice, AskMoreOfEachOfMany) {
  const Comparison fair = counted(4000, 20, 22);
  ASSERT_TRUE(verdict(fair).within_limit());
  const Comparison all[] = {fair, counted(4000, 25, 20), counted(4000, 500, 20)};
  const std::vector<Verdict> verdicts = verdicts_of_choice(changes_of(all));
  ASSERT_EQ(verdicts.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_GE(verdicts[i].p_value, verdict(all[i]).p_value) << i;
  EXPECT_EQ(verdicts[2].conclusion, Conclusion::exceeds_limit);
  // A choice among one candidate needs no correction.
  EXPECT_EQ(verdicts_of_choice(changes_of(std::span(all, 1)))[0].p_value, verdict(fair).p_value);
  // Within the limit alone, but not among so many.
  std::vector<Comparison> many(30, counted(4000, 500, 20));
  Comparison border = counted(4000, 20, 10);
  while (!verdict(border).within_limit()) --border.only_baseline;
  many.push_back(border);
  EXPECT_EQ(verdicts_of_choice(changes_of(many)).back().conclusion, Conclusion::inconclusive);
  EXPECT_GT(*verdicts_of_choice(changes_of(many)).back().examples_needed, 4000);
}

// Eight candidates that all lose exactly the margin, drawn 4000 times. In at most 2.5% of the draws is any of them
// within the limit. 0.0025 is one standard error of that.
TEST(VerdictsOfChoice, SeldomCrownAnyThatLosesTheMargin) {
  RandomSequence random(3, stream_of("verdicts"));
  constexpr std::int64_t kExamples = 3000;
  int crowned = 0, crowned_without = 0;
  for (int draw = 0; draw < 4000; ++draw) {
    std::vector<Comparison> candidates;
    bool plain = false;
    for (int k = 0; k < 8; ++k) {
      // A normal approximation of the counts, which are above 40.
      const auto count = [&](double rate) {
        const double mean = static_cast<double>(kExamples) * rate;
        return static_cast<std::int64_t>(
            std::lround(mean + std::sqrt(mean * (1 - rate)) * random.normal()));
      };
      candidates.push_back(counted(kExamples, count(0.02), count(0.015)));
      plain |= verdict(candidates.back()).within_limit();
    }
    crowned_without += plain;
    for (const Verdict& v : verdicts_of_choice(changes_of(candidates))) {
      if (!v.within_limit()) continue;
      ++crowned;
      break;
    }
  }
  EXPECT_LT(crowned / 4000.0, 0.025 + 3 * 0.0025);
  EXPECT_GT(crowned_without / 4000.0, 0.1) << "without the correction the test would show nothing";
}

TEST(VerdictsInSequence, StopAtTheFirstThatIsNotKept) {
  const Comparison kept = counted(10000, 10, 10), unclear = counted(10000, 60, 20);
  const Comparison all[] = {kept, kept, unclear, kept, counted(10000, 900, 10)};
  const std::vector<Verdict> verdicts = verdicts_in_sequence(changes_of(all));
  const Conclusion expected[] = {Conclusion::within_limit, Conclusion::within_limit,
                                 Conclusion::inconclusive, Conclusion::inconclusive,
                                 Conclusion::exceeds_limit};
  for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(verdicts[i].conclusion, expected[i]) << i;
  EXPECT_TRUE(verdicts[3].summary.find("not tested") != std::string::npos) << verdicts[3].summary;
}

TEST(VerdictsOfChoice, SayThatItIsTheirNumberThatLeavesThemUnclear) {
  Comparison border = counted(4000, 20, 10);
  while (!verdict(border).within_limit()) --border.only_baseline;
  const Verdict v = verdicts_of_choice(changes_of(std::vector<Comparison>(4, border)))[0];
  EXPECT_EQ(v.conclusion, Conclusion::inconclusive);
  EXPECT_NE(v.summary.find("after correction for 4 comparisons (uncorrected: within limit)"),
            std::string::npos)
      << v.summary;
  EXPECT_EQ(v.candidates, 4);
}

// Each of K evaluations gets 1/K of the level. A change within the limit alone may then be inconclusive; a single
// evaluation needs no correction.
TEST(VerdictOfLook, HoldsItsLevelForAllLooksTogether) {
  int only_alone = 0;
  for (int lost = 0; lost < 12; ++lost)
    for (int gained = 0; gained < 12; ++gained) {
      const MetricChange change = accuracy_change(counted(2000, lost, gained));
      const Verdict alone = verdict(change), one = verdict_of_evaluation(change, 1),
                    many = verdict_of_evaluation(change, 20);
      EXPECT_EQ(one.conclusion, alone.conclusion);
      EXPECT_EQ(one.summary, alone.summary);
      EXPECT_DOUBLE_EQ(many.p_value, std::min(1.0, 20 * alone.p_value));
      EXPECT_EQ(many.within_limit(), 20 * alone.p_value <= 0.025);
      EXPECT_EQ(many.change_interval->low, alone.change_interval->low);
      if (!alone.within_limit() || many.within_limit()) continue;
      ++only_alone;
      EXPECT_NE(
          many.summary.find("after correction for 20 comparisons (uncorrected: within limit)"),
          std::string::npos)
          << many.summary;
    }
  EXPECT_GT(only_alone, 5);
}

}  // namespace
}  // namespace hone
