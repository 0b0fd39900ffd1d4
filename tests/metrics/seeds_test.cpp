#include "hone/metrics/seeds.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace hone {
namespace {

// Critical values as every table of Student's distribution prints them, to three decimals.
TEST(Student, AgreesWithTheTables) {
  const std::pair<std::int64_t, double> rows[] = {{1, 12.706}, {2, 4.303},  {3, 3.182}, {4, 2.776},
                                                  {9, 2.262},  {10, 2.228}, {30, 2.042}};
  for (const auto& [degrees, critical] : rows) {
    EXPECT_NEAR(student_975(degrees), critical, 5e-4) << degrees;
    EXPECT_NEAR(student_two_sided(critical, degrees), 0.05, 1e-4) << degrees;
  }
  EXPECT_EQ(student_two_sided(0, 4), 1);
}

// With one degree of freedom it is Cauchy's distribution, with two 1 - t / sqrt(2 + t²).
TEST(Student, AgreesWithItsClosedForms) {
  for (const double t : {0.1, 1.0, 5.0}) {
    EXPECT_NEAR(student_two_sided(t, 1), 1 - 2 / M_PI * std::atan(t), 1e-14) << t;
    EXPECT_NEAR(student_two_sided(-t, 2), 1 - t / std::sqrt(2 + t * t), 1e-14) << t;
  }
}

TEST(SeedSpread, OfAFewValues) {
  const std::vector<double> values = {0.80, 0.82, 0.84};
  const SeedSpread s = seed_spread(values);
  EXPECT_EQ(s.count, 3);
  EXPECT_NEAR(s.mean, 0.82, 1e-15);
  EXPECT_NEAR(s.deviation, 0.02, 1e-15);
  EXPECT_EQ(s.least, 0.80);
  EXPECT_EQ(s.greatest, 0.84);
  EXPECT_NEAR(s.interval.high - s.mean, 4.302653 * 0.02 / std::sqrt(3), 1e-7);
}

TEST(SeedSpread, OfOneValueIsUnknown) {
  const std::vector<double> one = {0.5};
  EXPECT_TRUE(std::isnan(seed_spread(one).deviation));
  EXPECT_TRUE(std::isinf(seed_spread(one).interval.high));
  EXPECT_TRUE(std::isnan(paired_t_test(one)));
}

TEST(PairedTTest, TellsAConstantShiftFromNoise) {
  // mean 0.02, deviation 0.01, t = 0.02 / (0.01 / sqrt 3) = 3.46 with 2 degrees: 1 - t / sqrt(2 + t²)
  const std::vector<double> shift = {0.01, 0.02, 0.03}, noise = {-0.01, 0.0, 0.01},
                            same = {0.5, 0.5}, none = {0.0, 0.0};
  EXPECT_NEAR(paired_t_test(shift), 1 - std::sqrt(12.0) / std::sqrt(14.0), 1e-12);
  EXPECT_NEAR(paired_t_test(noise), 1, 1e-12);
  EXPECT_EQ(paired_t_test(same), 0);
  EXPECT_EQ(paired_t_test(none), 1);
}

}  // namespace
}  // namespace hone
