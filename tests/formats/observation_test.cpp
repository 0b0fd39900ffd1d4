#include "hone/formats/observation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/formats/formats_testing.h"

namespace hone::testing {
namespace {

Observation observation_of(const std::vector<float>& values) {
  Observation seen;
  seen.include(values);
  return seen;
}

TEST(Observation, KeepsTheRangeOfEverythingItSaw) {
  Observation seen;
  EXPECT_EQ(seen.magnitude(), 0);
  seen.include(std::vector<float>{1, -2});
  seen.include(std::vector<float>{});
  seen.include(std::vector<float>{0.5f, 1.5f});
  EXPECT_EQ(seen.minimum(), -2);
  EXPECT_EQ(seen.maximum(), 1.5f);
  EXPECT_EQ(seen.magnitude(), 2);
  EXPECT_EQ(seen.count(), 4);
  EXPECT_EQ(seen.mean_magnitude(), 1.25);
}

TEST(Observation, CountsWhatIsNotFiniteApart) {
  const Observation seen = observation_of({NAN, INFINITY, -INFINITY, 3});
  EXPECT_EQ(seen.not_finite(), 3);
  EXPECT_EQ(seen.count(), 1);
  EXPECT_EQ(seen.maximum(), 3);
}

// Bins hold five bits of fraction: their middle is within 1/64 of all they hold.
TEST(Observation, FindsQuantilesOfAnyMagnitude) {
  const std::vector<float> x = finite_values(20000);
  const Observation seen = observation_of(x);
  std::vector<float> sorted = x, magnitudes = x;
  for (float& value : magnitudes) value = std::fabs(value);
  std::ranges::sort(sorted);
  std::ranges::sort(magnitudes);
  for (const double share : {0.001, 0.1, 0.3, 0.7, 0.99, 1.0}) {
    const auto at = static_cast<std::size_t>(std::ceil(share * 20000)) - 1;
    EXPECT_NEAR(seen.quantile(share), sorted[at], std::fabs(sorted[at]) / 64) << share;
    EXPECT_NEAR(seen.magnitude_quantile(share), magnitudes[at], magnitudes[at] / 64) << share;
  }
}

TEST(Observation, SumsUpInRisingOrder) {
  const Observation::Summary summary = observation_of({3, -1, 3, 0, -100}).summary();
  ASSERT_EQ(summary.values.size(), 4u);
  EXPECT_TRUE(std::ranges::is_sorted(summary.values));
  EXPECT_EQ(summary.weights, (std::vector<double>{1, 1, 1, 2}));
  EXPECT_EQ(summary.values[2], 0);
  EXPECT_NEAR(summary.values[0], -100, 100.0 / 64);
}

TEST(Observation, GivesTheSameForAnyOrder) {
  std::vector<float> x = finite_values(1000);
  const Observation::Summary forth = observation_of(x).summary();
  std::ranges::reverse(x);
  EXPECT_EQ(observation_of(x).summary().values, forth.values);
}

}  // namespace
}  // namespace hone::testing
