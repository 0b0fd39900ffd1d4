#include "hone/metrics/median.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

namespace hone {
namespace {

// Returns 1, 2, … n, so each value is its rank.
std::vector<double> ranks(int n) {
  std::vector<double> values(static_cast<std::size_t>(n));
  std::iota(values.begin(), values.end(), 1);
  return values;
}

TEST(Median, IsTheMiddleOrTheMeanOfTheMiddleTwo) {
  EXPECT_EQ(median_of_sorted(ranks(5)), 3);
  EXPECT_EQ(median_of_sorted(ranks(6)), 3.5);
}

// Ranks from tables of the sign test at 5%, two-sided: n = 6, 12, 20, 30, 60, 100.
TEST(Median, HasTheIntervalOfTheSignTest) {
  const std::pair<int, int> lowest[] = {{6, 1}, {12, 3}, {20, 6}, {30, 10}, {60, 22}, {100, 40}};
  for (const auto& [n, rank] : lowest) {
    const Interval interval = median_interval(ranks(n));
    EXPECT_EQ(interval.low, rank) << n;
    EXPECT_EQ(interval.high, n + 1 - rank) << n;
  }
}

// Ranks from exact sums of binomial coefficients.
TEST(Median, HasTheIntervalOfARepeat) {
  const std::pair<int, int> lowest[] = {{9, 1}, {12, 1}, {13, 2}, {20, 4}, {40, 11}, {100, 36}};
  for (const auto& [n, rank] : lowest) {
    const Interval interval = repeat_interval(ranks(n));
    EXPECT_EQ(interval.low, rank) << n;
    EXPECT_EQ(interval.high, n + 1 - rank) << n;
    EXPECT_LE(interval.low, median_interval(ranks(n)).low) << n;
  }
}

}  // namespace
}  // namespace hone
