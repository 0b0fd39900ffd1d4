#include "hone/search/truncated_normal.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace hone {
namespace {

// Compares with mpmath at 50 digits. In the tails a rounding error of x is amplified by x².
TEST(TruncatedNormal, IsAccurateInBothTails) {
  const std::pair<double, double> kLogCdf[] = {
      {-40.0, -804.608442013753788}, {-21.0, -224.465715831414471}, {-20.0, -203.917155371097264},
      {-8.0, -35.0134371599145499},  {-1.0, -1.84102164500926351},  {0.0, -0.693147180559945309},
      {0.5, -0.368946415288656393},  {3.0, -0.0013508099647481938}, {7.0, -1.27981254388665396e-12},
      {12.0, -1.776482112077679e-33}};
  for (const auto& [x, log] : kLogCdf)
    EXPECT_NEAR(log_normal_cdf(x), log, (4e-15 + x * x * 2.3e-16) * std::abs(log)) << x;
}

TEST(TruncatedNormal, QuantilesAreThoseOfTheMass) {
  for (const auto& [a, b] : {std::pair{-1.0, 1.0},
                             {-0.01, 50.0},
                             {-30.0, -25.0},
                             {3.0, 4.0},
                             {-100.0, 0.5},
                             {20.0, 120.0}})
    for (const double q : {1e-12, 1e-3, 0.2, 0.5, 0.9, 1 - 1e-9}) {
      const double x = truncated_normal_quantile(q, a, b);
      ASSERT_GE(x, a);
      ASSERT_LE(x, b);
      const double log_share = log_normal_mass(a, x) - log_normal_mass(a, b);
      // Close to a, the share is a difference of almost equal masses.
      EXPECT_NEAR(std::exp(log_share), q, 1e-9 * q + 1e-13) << a << " " << b << " " << q;
    }
  EXPECT_EQ(truncated_normal_quantile(0, -1, 2), -1);
}

TEST(TruncatedNormal, SumsOfLogarithmsAreThoseOfTheirPowers) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const double logs[] = {-1000, -1001, -1200};
  EXPECT_NEAR(log_sum_exp(logs), -1000 + std::log1p(std::exp(-1.0)), 1e-13);
  EXPECT_NEAR(log_add(-1001, -1000), -1000 + std::log1p(std::exp(-1.0)), 1e-13);
  EXPECT_EQ(log_sum_exp({}), -kInfinity);
  EXPECT_EQ(log_add(-kInfinity, -kInfinity), -kInfinity);
  EXPECT_EQ(log_normal_mass(1, 1), -kInfinity);
}

}  // namespace
}  // namespace hone
