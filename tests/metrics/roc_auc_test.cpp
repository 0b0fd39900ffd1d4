#include "hone/metrics/roc_auc.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "hone/base/random.h"

namespace hone {
namespace {

// Compares every positive with every negative. A tie counts half.
double by_pairs(const std::vector<double>& scores, const std::vector<char>& positive) {
  double won = 0, pairs = 0;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    for (std::size_t j = 0; j < scores.size(); ++j) {
      if (positive[i] == 0 || positive[j] != 0) continue;
      ++pairs;
      won += scores[i] > scores[j] ? 1 : scores[i] == scores[j] ? 0.5 : 0;
    }
  }
  return won / pairs;
}

// sklearn.metrics.roc_auc_score
TEST(RocAuc, IsThatOfScikitLearn) {
  const std::vector<double> scores = {0.1, 0.4, 0.35, 0.8, 0.4, 0.4, 0.9, -1};
  EXPECT_EQ(roc_auc(scores, std::vector<char>{0, 0, 1, 1, 1, 0, 1, 0}).value, 0.8125);
}

TEST(RocAuc, CountsEveryPairWithTies) {
  RandomSequence random(1, 1);
  for (const std::uint64_t levels : {2, 5, 1000}) {  // few levels: many ties
    std::vector<double> scores;
    std::vector<char> positive;
    for (int i = 0; i < 200; ++i) {
      scores.push_back(static_cast<double>(random.below(levels)));
      positive.push_back(random.below(3) == 0 ? 1 : 0);
    }
    EXPECT_DOUBLE_EQ(roc_auc(scores, positive).value, by_pairs(scores, positive)) << levels;
  }
}

TEST(RocAuc, OfEqualScoresIsAHalf) {
  EXPECT_EQ(roc_auc(std::vector<double>(5, 2.0), std::vector<char>{1, 0, 0, 1, 0}).value, 0.5);
}

TEST(RocAuc, IsNotDefinedWithoutOneOfTheClassesOrWithANaN) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto undefined = [](const std::vector<double>& scores, const std::vector<char>& positive) {
    const RocAuc auc = roc_auc(scores, positive);
    return std::isnan(auc.value) && auc.interval.low == 0 && auc.interval.high == 1;
  };
  EXPECT_TRUE(undefined({1, 2}, {1, 1}));
  EXPECT_TRUE(undefined({1, 2}, {0, 0}));
  EXPECT_TRUE(undefined({}, {}));
  EXPECT_TRUE(undefined({1, nan}, {0, 1}));
}

// The expected roots of the equation come from scipy.optimize.brentq.
TEST(AucInterval, IsThatOfNewcombesFifthMethod) {
  const auto expect = [](double auc, std::int64_t positives, std::int64_t negatives, double low,
                         double high) {
    const Interval interval = auc_interval(auc, positives, negatives);
    EXPECT_NEAR(interval.low, low, 1e-12);
    EXPECT_NEAR(interval.high, high, 1e-12);
  };
  expect(0.8, 30, 50, 0.6789496377599071, 0.8797030819165681);
  expect(0.5, 100, 100, 0.42100961376343743, 0.5789903862365626);
  expect(0.875, 4, 4, 0.45282705702636217, 0.9811701331859202);
  expect(1, 10, 10, 0.8002136128811246, 1);
  expect(0, 10, 10, 0, 1 - 0.8002136128811246);
}

}  // namespace
}  // namespace hone
