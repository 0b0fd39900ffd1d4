#include "hone/formats/observation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "hone/base/random.h"
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

// Returns mostly normal values, with some tiny, huge, equal and zero ones.
std::vector<float> values_of_kind(int kind, std::size_t count) {
  RandomSequence random(static_cast<std::uint64_t>(kind), stream_of("observation"));
  std::vector<float> x;
  for (std::size_t i = 0; i < count; ++i) {
    const double normal = random.normal(), uniform = random.uniform();
    x.push_back(static_cast<float>(kind == 0   ? normal
                                   : kind == 1 ? (uniform < 0.9 ? 0 : normal)
                                   : kind == 2 ? 0.25 * static_cast<double>(random.below(5))
                                   : kind == 3 ? normal / (0.01 + uniform)
                                   : kind == 4 ? 1.005 + 0.001 * uniform
                                   : kind == 5 ? -std::exp(20 * normal)
                                               : (i == 7 ? 1e6 : std::fabs(normal))));
  }
  return x;
}
constexpr int kKinds = 7;

constexpr std::size_t kMany = Observation::kExactValues + 5000;

TEST(Observation, RangesLeaveOutAtMostSoManyAtEachEnd) {
  for (int kind = 0; kind < kKinds; ++kind)
    for (const std::size_t count : {std::size_t{1}, std::size_t{2}, std::size_t{999}, kMany}) {
      const std::vector<float> x = values_of_kind(kind, count);
      const Observation seen = observation_of(x);
      std::vector<float> sorted = x;
      std::ranges::sort(sorted);
      for (const double share : {0.0, 0.0001, 0.01, 0.3, 0.499}) {
        SCOPED_TRACE(fmt::format("kind {}, {} values, {}", kind, count, share));
        const auto outside = static_cast<std::size_t>(share * static_cast<double>(count - 1));
        const auto [low, high] = seen.range_without(static_cast<std::int64_t>(outside));
        const float exact_low = sorted[outside], exact_high = sorted[count - 1 - outside];
        EXPECT_LE(low, exact_low);
        EXPECT_GE(high, exact_high);
        const float slack = count > Observation::kExactValues ? 0x1p-10f : 0;
        EXPECT_GE(low, exact_low - slack * std::fabs(exact_low));
        EXPECT_LE(high, exact_high + slack * std::fabs(exact_high));
        EXPECT_GE(low, sorted.front());
        EXPECT_LE(high, sorted.back());
      }
    }
}

// Bins keep ten bits of fraction, so the mean of a bin is within 1/1024 of each of its values.
TEST(Observation, FindsQuantilesOfAnyMagnitude) {
  for (const std::size_t count : {std::size_t{2000}, kMany}) {
    const std::vector<float> x = finite_values(count);
    const Observation seen = observation_of(x);
    std::vector<float> magnitudes = x;
    for (float& value : magnitudes) value = std::fabs(value);
    std::ranges::sort(magnitudes);
    const double slack = count > Observation::kExactValues ? 0x1p-10 : 0;
    for (const double share : {0.001, 0.1, 0.3, 0.7, 0.99, 1.0}) {
      const auto at = static_cast<std::size_t>(std::ceil(share * static_cast<double>(count))) - 1;
      EXPECT_NEAR(seen.magnitude_quantile(share), magnitudes[at], slack * magnitudes[at]) << share;
    }
  }
}

TEST(Observation, SumsUpFewValuesAsTheyAre) {
  const Observation::Summary summary = observation_of({3, -1, 3, 0, -100, -0.0f}).summary();
  EXPECT_EQ(summary.values, (std::vector<float>{-100, -1, 0, 3}));
  EXPECT_EQ(summary.weights, (std::vector<double>{1, 1, 2, 2}));
}

TEST(Observation, SumsUpManyByTheMeansOfBins) {
  for (int kind = 0; kind < kKinds; ++kind) {
    SCOPED_TRACE(kind);
    const std::vector<float> x = values_of_kind(kind, kMany);
    const Observation::Summary summary = observation_of(x).summary();
    EXPECT_TRUE(std::ranges::is_sorted(summary.values));
    double count = 0, sum = 0, exact = 0, magnitude = 0;
    for (std::size_t i = 0; i < summary.values.size(); ++i) {
      count += summary.weights[i];
      sum += summary.weights[i] * summary.values[i];
    }
    for (const float value : x) {
      exact += value;
      magnitude += std::fabs(value);
    }
    EXPECT_EQ(count, static_cast<double>(kMany));
    EXPECT_NEAR(sum, exact, 1e-6 * magnitude);
  }
}

TEST(Observation, SpreadsTheValuesOfWideBins) {
  const Observation seen = observation_of(values_of_kind(0, kMany));
  const Observation::Summary spread = seen.summary(1e-4);
  EXPECT_GT(spread.values.size(), seen.summary().values.size());
  EXPECT_NEAR(std::accumulate(spread.weights.begin(), spread.weights.end(), 0.0),
              static_cast<double>(kMany), 1e-6);
}

TEST(Observation, GivesTheSameForAnyOrderAndBatches) {
  for (const std::size_t count : {std::size_t{1000}, kMany}) {
    std::vector<float> x = values_of_kind(3, count);
    const Observation::Summary forth = observation_of(x).summary();
    std::ranges::reverse(x);
    Observation pieces;
    for (std::size_t at = 0; at < count; at += 777)
      pieces.include(std::span(x).subspan(at, std::min<std::size_t>(777, count - at)));
    EXPECT_EQ(pieces.summary().values, forth.values);
    EXPECT_EQ(pieces.summary().weights, forth.weights);
  }
}

TEST(Observation, ACopyDoesNotSeeWhatTheOtherSeesLater) {
  Observation seen = observation_of({1, 2});
  const Observation before = seen;
  seen.include(std::vector<float>{3});
  EXPECT_EQ(before.summary().values, (std::vector<float>{1, 2}));
  EXPECT_EQ(seen.summary().values, (std::vector<float>{1, 2, 3}));
}

}  // namespace
}  // namespace hone::testing
