#include "hone/search/isotonic.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "hone/base/random.h"

namespace hone {
namespace {

TEST(IsotonicFit, PoolsNeighboursThatAreOutOfOrder) {
  EXPECT_EQ(isotonic_fit(std::vector<double>{1, 3, 2, 4}), (std::vector<double>{1, 2.5, 2.5, 4}));
  EXPECT_EQ(isotonic_fit(std::vector<double>{3, 2, 1}), (std::vector<double>{2, 2, 2}));
  EXPECT_TRUE(isotonic_fit({}).empty());
}

// The nearest non-decreasing numbers by the min-max formula: the least over all ends j >= i of the greatest mean over
// all begins k <= i (Barlow et al. 1972).
TEST(IsotonicFit, IsTheGreatestLeastMean) {
  RandomSequence random(1, stream_of("isotonic"));
  for (int round = 0; round < 20; ++round) {
    std::vector<double> values(12);
    for (double& value : values) value = random.normal();
    const std::vector<double> fit = isotonic_fit(values);
    for (std::size_t i = 0; i < values.size(); ++i) {
      double greatest = -1e9;
      for (std::size_t from = 0; from <= i; ++from) {
        double least = 1e9;
        for (std::size_t to = i; to < values.size(); ++to) {
          double sum = 0;
          for (std::size_t k = from; k <= to; ++k) sum += values[k];
          least = std::min(least, sum / static_cast<double>(to - from + 1));
        }
        greatest = std::max(greatest, least);
      }
      EXPECT_NEAR(fit[i], greatest, 1e-12);
    }
  }
}

}  // namespace
}  // namespace hone
