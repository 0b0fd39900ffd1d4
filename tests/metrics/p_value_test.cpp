#include "hone/metrics/p_value.h"

#include <gtest/gtest.h>

#include <cmath>

namespace hone {
namespace {

TEST(PText, IsNeverZero) {
  EXPECT_EQ(p_text(1), "1.000");
  EXPECT_EQ(p_text(0.0414), "0.041");
  EXPECT_EQ(p_text(3.2e-64), "3e-64");
  EXPECT_EQ(p_text(1e-301), "< 1e-300");
  EXPECT_EQ(p_text(0), "< 1e-300");
  EXPECT_EQ(p_text(std::nan("")), "–");
  EXPECT_EQ(p_relation(0.5), "= 0.500");
  EXPECT_EQ(p_relation(0), "< 1e-300");
}

// By hand: 4 · 0.005, then 3 · 0.01, then 2 · 0.03; the last, 0.04, is no less than the one before it.
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
