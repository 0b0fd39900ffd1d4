#include "hone/metrics/p_value.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

// By hand: 4 · 0.005, then 3 · 0.01, then 2 · 0.03. The last value, 0.04, takes the value before it, which is larger.
TEST(Holm, CorrectsStepByStep) {
  const std::vector<double> adjusted = holm_adjusted(std::vector<double>{0.01, 0.04, 0.03, 0.005});
  const double expected[] = {0.03, 0.06, 0.06, 0.02};
  for (std::size_t i = 0; i < 4; ++i) EXPECT_DOUBLE_EQ(adjusted[i], expected[i]) << i;
  EXPECT_EQ(holm_adjusted(std::vector<double>{0.7, 0.6}), (std::vector<double>{1, 1}));
  EXPECT_EQ(holm_adjusted(std::vector<double>{0.3}), std::vector<double>{0.3});
  EXPECT_TRUE(holm_adjusted({}).empty());
}

}  // namespace
}  // namespace hone
