#include "hone/metrics/planning.h"

#include <gtest/gtest.h>

#include "tests/metrics/counted.h"

namespace hone {
namespace {

using testing::chance;
using testing::counted;
using testing::is_kept;
using testing::is_lost;

// The exact power is 80%. Counts are integers, so it jumps by up to a few hundredths.
TEST(PlannedExamples, HaveThePowerTheyPromise) {
  struct Case {
    DisagreementRates rates;
    double margin;
  };
  const Case cases[] = {
      {{0.005, 0.005}, 0.005}, {{0.02, 0.02}, 0.005},   {{0.1, 0.1}, 0.005},
      {{0.02, 0.02}, 0.02},    {{0.004, 0.002}, 0.005}, {{0.02, 0.03}, 0.0},
      {{0.03, 0.01}, 0.005},   {{0.25, 0.05}, 0.05},    {{0.0007, 0.0007}, 0.005}};
  for (const Case& c : cases) {
    const std::int64_t n = *planned_examples(c.rates, c.margin);
    const double power =
        chance(n, c.rates, c.margin, c.rates.change() > -c.margin ? is_kept : is_lost);
    EXPECT_GT(power, 0.76) << c.rates.lost << " " << c.rates.gained << " n " << n;
    EXPECT_LT(power, 0.88) << c.rates.lost << " " << c.rates.gained << " n " << n;
  }
}

TEST(PlannedExamples, FollowNamsFormula) {
  // Without disagreement only the null variance remains: z² m (1 - m) / m².
  EXPECT_EQ(planned_examples({0, 0}, 0.005),
            static_cast<std::int64_t>(std::ceil(kNormal975 * kNormal975 * 0.995 / 0.005)));
  EXPECT_FALSE(planned_examples({0.01, 0.005}, 0.005));
  EXPECT_FALSE(planned_examples({0.01, 0.01}, 0));
  EXPECT_GT(*planned_examples({0.01, 0.01}, 0.005, normal_above(0.025 / 10)),
            *planned_examples({0.01, 0.01}, 0.005));
}

// The exact power, and 80% for the planned number of examples.
TEST(ChanceToBeShownKept, IsThePower) {
  const DisagreementRates rates = {0.02, 0.02};
  for (const std::int64_t n : {500, 2000, 6000, 12000})
    EXPECT_NEAR(power_to_show_within_limit(rates, 0.005, n), chance(n, rates, 0.005, is_kept), 0.05)
        << n;
  const double z = normal_above(0.025 / 10);
  EXPECT_NEAR(power_to_show_within_limit(rates, 0.005, *planned_examples(rates, 0.005, z), z), 0.8,
              1e-3);
  // No predictions differ, so only the number of examples matters.
  EXPECT_EQ(power_to_show_within_limit({0, 0}, 0.005, 10), 0);
  EXPECT_EQ(power_to_show_within_limit({0, 0}, 0.005, 10000), 1);
}

// The change equals the observed one. The rate of disagreement adds half an example.
TEST(RatesSeen, HaveTheChangeThatWasSeen) {
  for (const auto& [lost, gained] : {std::pair{0, 0}, {6, 2}, {0, 36}, {36, 0}, {18, 18}}) {
    const DisagreementRates rates = observed_rates(counted(36, lost, gained));
    EXPECT_NEAR(rates.change(), (gained - lost) / 36.0, 1e-15);
    EXPECT_GE(rates.lost, 0);
    EXPECT_GE(rates.gained, 0);
    EXPECT_NEAR(rates.lost + rates.gained,
                std::max((lost + gained + 0.5) / 37, std::abs(gained - lost) / 36.0), 1e-15);
  }
  Comparison thrice = counted(108, 18, 6);
  thrice.evidence = 1.0 / 3;
  EXPECT_NEAR(observed_rates(thrice).lost, observed_rates(counted(36, 6, 2)).lost, 1e-15);
}

TEST(PlannedSeeds, AreFiveAtLeastAndNotWithoutEnd) {
  EXPECT_EQ(planned_seeds(1, 0.001), 5);
  // ((1.96 + 0.84) 2)² + 1.92 = 33.3
  EXPECT_EQ(planned_seeds(0.01, 0.02), 34);
  EXPECT_FALSE(planned_seeds(0.0001, 0.02));
  EXPECT_FALSE(planned_seeds(0, 0.02));
}

TEST(PlanText, SaysWhatWouldBeShown) {
  EXPECT_EQ(
      plan_text(1234, -0.002, 0.005, {}),
      "about 1,300 examples would show it to be within the limit (power 80%) if the true change "
      "equals the observed change");
  EXPECT_EQ(
      plan_text(12, -0.11, 0.005, {.unit = " seeds"}),
      "about 12 seeds would show it to exceed the limit (power 80%) if the true change equals the "
      "observed change");
  // Rates that were not observed are stated as assumptions.
  EXPECT_EQ(
      plan_text(1234, 0, 0.005, {.condition = condition_text(observed_rates(counted(36, 0, 0)))}),
      "about 1,300 examples would show it to be within the limit (power 80%) if both models "
      "are equally accurate and differ on one example in 74 (none was observed)");
  EXPECT_EQ(
      plan_text(1234, 0, 0.005, {.condition = condition_text(observed_rates(counted(36, 1, 1)))}),
      plan_text(1234, 0, 0.005, {}));
  EXPECT_EQ(plan_text({}, -0.11, 0.005, {.unit = " seeds"}),
            "the observed change is too close to the limit for more seeds to decide");
}

}  // namespace
}  // namespace hone
