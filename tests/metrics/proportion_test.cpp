#include "hone/metrics/proportion.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

// Newcombe, "Two-sided confidence intervals for the single proportion", 1998, table I, method 3. It prints four digits.
TEST(WilsonInterval, MatchesPublishedFigures) {
  const struct {
    int successes, trials;
    double low, high;
  } rows[] = {{81, 263, 0.2553, 0.3662},
              {15, 148, 0.0624, 0.1605},
              {0, 20, 0, 0.1611},
              {1, 29, 0.0061, 0.1718}};
  for (const auto& row : rows) {
    const Interval interval = wilson_interval(row.successes, row.trials);
    EXPECT_NEAR(interval.low, row.low, 5e-5) << row.successes << " of " << row.trials;
    EXPECT_NEAR(interval.high, row.high, 5e-5) << row.successes << " of " << row.trials;
  }
}

TEST(WilsonInterval, IsSymmetricInSuccessAndFailure) {
  for (int k = 0; k <= 30; ++k) {
    EXPECT_NEAR(wilson_interval(k, 30).low, 1 - wilson_interval(30 - k, 30).high, 1e-15);
  }
}

TEST(WilsonInterval, EndsExactlyAtNothingAndAtEverything) {
  for (int n : {1, 7, 100, 12345}) {
    EXPECT_EQ(wilson_interval(0, n).low, 0) << n;
    EXPECT_EQ(wilson_interval(n, n).high, 1) << n;
  }
}

TEST(WilsonInterval, SaysNothingWithoutTrials) {
  EXPECT_EQ(wilson_interval(0, 0).low, 0);
  EXPECT_EQ(wilson_interval(0, 0).high, 1);
}

// Newcombe (1998), table II, method 10.
TEST(DifferenceInterval, AgreesWithNewcombesTable) {
  struct Row {
    Proportion a, b;
    double low, high;
  };
  const Row rows[] = {{{56, 70}, {48, 80}, 0.0524, 0.3339}, {{9, 10}, {3, 10}, 0.1705, 0.8090},
                      {{6, 7}, {2, 7}, 0.0582, 0.8062},     {{5, 56}, {0, 29}, -0.0381, 0.1926},
                      {{0, 10}, {0, 20}, -0.1611, 0.2775},  {{0, 10}, {0, 10}, -0.2775, 0.2775},
                      {{10, 10}, {0, 20}, 0.6791, 1},       {{10, 10}, {0, 10}, 0.6075, 1}};
  for (const Row& row : rows) {
    const Interval interval = difference_interval(row.a, row.b);
    EXPECT_NEAR(interval.low, row.low, 5e-5) << row.a.successes << "/" << row.a.trials;
    EXPECT_NEAR(interval.high, row.high, 5e-5) << row.a.successes << "/" << row.a.trials;
  }
}

TEST(NormalTail, AgreesWithTheTables) {
  EXPECT_NEAR(normal_tail(kNormal975), 0.025, 1e-15);
  EXPECT_NEAR(normal_tail(kNormal80), 0.2, 1e-15);
  EXPECT_NEAR(normal_tail(-1), 0.841344746, 1e-9);
  for (const double tail : {0.5, 0.2, 0.025, 0.001, 1e-12})
    EXPECT_NEAR(normal_tail(normal_above(tail)), tail, 1e-12 * tail) << tail;
}

}  // namespace
}  // namespace hone
