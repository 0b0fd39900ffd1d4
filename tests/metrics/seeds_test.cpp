#include "hone/metrics/seeds.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "hone/base/random.h"

namespace hone {
namespace {

// Critical values from tables of Student's distribution, with three decimals.
TEST(Student, AgreesWithTheTables) {
  const std::pair<std::int64_t, double> rows[] = {{1, 12.706}, {2, 4.303},  {3, 3.182}, {4, 2.776},
                                                  {9, 2.262},  {10, 2.228}, {30, 2.042}};
  for (const auto& [degrees, critical] : rows) {
    EXPECT_NEAR(student_975(degrees), critical, 5e-4) << degrees;
    EXPECT_NEAR(student_two_sided(critical, degrees), 0.05, 1e-4) << degrees;
  }
  EXPECT_EQ(student_two_sided(0, 4), 1);
}

// With one degree of freedom it is Cauchy's distribution. With two its tail is 1 - t / sqrt(2 + t²).
TEST(Student, AgreesWithItsClosedForms) {
  for (const double t : {0.1, 1.0, 5.0}) {
    EXPECT_NEAR(student_two_sided(t, 1), 1 - 2 / M_PI * std::atan(t), 1e-14) << t;
    EXPECT_NEAR(student_two_sided(-t, 2), 1 - t / std::sqrt(2 + t * t), 1e-14) << t;
  }
}

TEST(SeedSpread, FromFiveSeedsOn) {
  const std::vector<double> values = {0.80, 0.82, 0.84, 0.82, 0.82};
  const SeedSpread s = seed_spread(values);
  EXPECT_EQ(s.count, 5);
  EXPECT_NEAR(s.mean, 0.82, 1e-15);
  EXPECT_NEAR(*s.deviation, std::sqrt(0.0008 / 4), 1e-15);
  EXPECT_EQ(s.least, 0.80);
  EXPECT_EQ(s.greatest, 0.84);
  EXPECT_NEAR(s.interval->high - s.mean, 2.776445 * *s.deviation / std::sqrt(5), 1e-7);
}

// Two accuracies near 50% once gave an interval from -29% to 129%.
TEST(SeedSpread, OfFewerIsTheirValuesAlone) {
  for (const std::vector<double>& few :
       {std::vector<double>{0.5}, {0.44, 0.56}, {0.1, 0.2, 0.3, 0.4}}) {
    const SeedSpread s = seed_spread(few);
    EXPECT_FALSE(s.deviation);
    EXPECT_FALSE(s.interval);
    EXPECT_FALSE(share_spread(few).interval);
    EXPECT_FALSE(paired_t_test(few));
  }
  EXPECT_NEAR(seed_spread(std::vector<double>{0.44, 0.56}).mean, 0.5, 1e-15);
}

// Equal shares may differ by rounding errors, a deviation of 7e-15. That counts as zero, without an interval.
TEST(SeedSpread, OfEqualValuesClaimsNoWidth) {
  const std::vector<double> equal(6, 0.5132), before = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6},
                                              after = {0.4, 0.5, 0.6, 0.7, 0.8, 0.9};
  EXPECT_EQ(seed_spread(equal).mean, 0.5132);
  EXPECT_EQ(seed_spread(equal).deviation, 0);
  EXPECT_FALSE(seed_spread(equal).interval);
  EXPECT_FALSE(share_spread(equal).interval);
  EXPECT_EQ(change_spread(kAccuracy, before, after).deviation, 0);
  EXPECT_FALSE(change_spread(kAccuracy, before, after).interval);
}

TEST(AccuracySpread, StaysWithinZeroAndOne) {
  const std::vector<double> extreme = {1, 1, 0.5, 1, 1}, none = {0, 0, 0, 0.1, 0};
  for (const auto& values : {extreme, none}) {
    const Interval interval = *share_spread(values).interval;
    EXPECT_GT(interval.low, 0);
    EXPECT_LT(interval.high, 1);
    const double mean = seed_spread(values).mean;
    EXPECT_LT(interval.low, mean);
    EXPECT_LT(mean, interval.high);
  }
  // Near 50% and with a small spread, the interval is almost that of the accuracies themselves.
  const std::vector<double> middle = {0.50, 0.51, 0.49, 0.50, 0.505};
  const Interval on_logits = *share_spread(middle).interval, plain = *seed_spread(middle).interval;
  EXPECT_NEAR(on_logits.low, plain.low, 1e-5);
  EXPECT_NEAR(on_logits.high, plain.high, 1e-5);
}

TEST(AccuracySpread, ByHand) {
  // Mean 0.9, standard deviation √(0.02 / 4). The logistic function has the slope 0.09 there.
  const SeedSpread s = share_spread(std::vector<double>{0.8, 0.9, 0.9, 0.9, 1.0});
  const double half = student_975(4) * std::sqrt(0.02 / 4) / std::sqrt(5.0) / 0.09;
  EXPECT_NEAR(s.interval->low, 1 / (1 + std::exp(-(std::log(9.0) - half))), 1e-14);
  EXPECT_NEAR(s.interval->high, 1 / (1 + std::exp(-(std::log(9.0) + half))), 1e-14);
}

// Near 100%, where shrinking the shares once gave an interval that excluded the mean.
TEST(AccuracySpread, HoldsItsMean) {
  const SeedSpread s = share_spread(std::vector<double>{1, 0.995, 0.995, 0.995, 0.99});
  EXPECT_LT(s.interval->low, s.mean);
  EXPECT_LT(s.mean, s.interval->high);
}

// Accuracies of seeds whose logits are normal around 1.5. 95% of the intervals contain the expected accuracy. 0.005 is
// the standard error of 2000 draws. Rounding to whole texts has no visible effect.
TEST(AccuracySpread, CoversAsOftenAsItSays) {
  const auto share = [](double normal) { return 1 / (1 + std::exp(-1.5 - 0.3 * normal)); };
  double truth = 0, weights = 0;
  for (double z = -6; z <= 6; z += 0.01) {
    truth += share(z) * std::exp(-z * z / 2);
    weights += std::exp(-z * z / 2);
  }
  truth /= weights;
  RandomSequence random(5, stream_of("coverage"));
  int covered = 0;
  for (int draw = 0; draw < 2000; ++draw) {
    std::vector<double> accuracies;
    for (int seed = 0; seed < 5; ++seed)
      accuracies.push_back(std::round(share(random.normal()) * 5000) / 5000);
    const Interval interval = *share_spread(accuracies).interval;
    covered += interval.low <= truth && truth <= interval.high;
  }
  EXPECT_NEAR(covered / 2000.0, 0.95, 3 * 0.005);
}

TEST(ChangeSpread, IsCutWhereAccuraciesEnd) {
  const std::vector<double> before = {0.02, 0.01, 0.03, 0.02, 0.02},
                            after = {0.00, 0.20, 0.01, 0.00, 0.01};
  const SeedSpread s = change_spread(kAccuracy, before, after);
  EXPECT_NEAR(s.interval->low, -0.02, 1e-15);
  EXPECT_GT(s.interval->high, 0.05);
}

TEST(PairedTTest, TellsAShiftFromNoise) {
  // Mean 0.02, standard deviation 0.01, five seeds: t = 0.02 / (0.01 / √5) with 4 degrees of freedom.
  const std::vector<double> shift = {0.01, 0.03, 0.01, 0.03, 0.02},
                            noise = {-0.01, 0.0, 0.01, 0.01, -0.01};
  EXPECT_NEAR(*paired_t_test(shift), student_two_sided(0.02 * std::sqrt(5.0) / 0.01, 4), 1e-12);
  EXPECT_NEAR(*paired_t_test(noise), 1, 1e-12);
}

}  // namespace
}  // namespace hone
