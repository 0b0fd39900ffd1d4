#include "hone/metrics/mean.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace hone {
namespace {

TEST(MeanInAnyOrder, HasTheSameBitsInEveryOrder) {
  // Plain summation in this order loses the ones next to 1e16.
  std::vector<double> values = {1, 1, 1e16, 1, 1, -3};
  std::ranges::sort(values);
  const double mean = mean_in_any_order(values);
  do {
    ASSERT_EQ(mean_in_any_order(values), mean);
  } while (std::ranges::next_permutation(values).found);
}

TEST(MeanInAnyOrder, IsNoNumberOfNoneAndWhereOneIsNone) {
  EXPECT_TRUE(std::isnan(mean_in_any_order({})));
  EXPECT_TRUE(std::isnan(mean_in_any_order({1, std::numeric_limits<double>::quiet_NaN(), 2})));
  EXPECT_EQ(mean_in_any_order({1, 2, 6}), 3);
}

}  // namespace
}  // namespace hone
