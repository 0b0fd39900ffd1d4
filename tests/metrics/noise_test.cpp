#include "hone/metrics/noise.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace hone {
namespace {

Noise noise_of(const std::vector<float>& x, const std::vector<float>& y) {
  Noise noise;
  noise.include(x, y);
  return noise;
}

TEST(Noise, ComparesSignalAndErrorInDecibels) {
  EXPECT_NEAR(noise_of({3, 4}, {3, 4.5f}).snr_db(), 20, 1e-12);  // 25 against 0.25
  EXPECT_EQ(noise_of({1, 2}, {1, 2}).snr_db(), std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(noise_of({0, 0}, {0, 1}).snr_db()));
}

TEST(Noise, AddsUpOverPieces) {
  Noise pieces = noise_of({3}, {3});
  pieces.include(std::vector<float>{4}, std::vector<float>{4.5f});
  EXPECT_NEAR(pieces.snr_db(), 20, 1e-12);
  EXPECT_EQ(pieces.count, 2);
  EXPECT_NEAR(pieces.standard_deviation(), 0.5, 1e-12);
}

TEST(Noise, CountsWhatBecameZero) {
  const Noise noise = noise_of({0, 0.1f, -0.2f, 5}, {0, 0, 0, 5});
  EXPECT_EQ(noise.flushed, 2);
  EXPECT_EQ(noise.flushed_share(), 0.5);
  EXPECT_EQ(noise.smallest_step, 5);
}

// The grid ends at 7 and -8 with steps of 1: 7.4 and -8.4 are rounded, 7.6 and -9 are clipped.
TEST(Noise, TellsClippingFromRounding) {
  const Noise noise = noise_of({7.4f, 7.6f, 6, -8.4f, -9, -7, 0}, {7, 7, 6, -8, -8, -7, 0});
  EXPECT_EQ(noise.clipped, 2);
  EXPECT_EQ(noise_of({1, 2, 3}, {1, 2, 3}).clipped, 0);
  EXPECT_EQ(noise_of({1, -2, 3}, {0, 0, 0}).clipped, 0) << "flushed, not clipped";
}

TEST(Noise, LeavesOutWhatIsNoNumber) {
  const Noise noise = noise_of({NAN, 1, 2}, {0, NAN, 2});
  EXPECT_EQ(noise.count, 1);
  EXPECT_EQ(noise.flushed, 0);
}

}  // namespace
}  // namespace hone
