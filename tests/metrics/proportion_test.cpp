#include "hone/metrics/proportion.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

// Newcombe, "Two-sided confidence intervals for the single proportion", 1998, table I, method 3;
// four digits printed.
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

}  // namespace
}  // namespace hone
