#include "hone/metrics/classification.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "hone/base/error.h"

namespace hone {
namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

TEST(Predictions, FirstOfEqualLogitsWins) {
  const std::vector<float> logits = {1, 1, 0, /**/ 0, 2, 2, /**/ -3, -2, -1};
  EXPECT_EQ(predictions({logits, 3}), (std::vector<std::int32_t>{0, 1, 2}));
}

TEST(Predictions, RowWithNaNHasNone) {
  const std::vector<float> logits = {kNaN, 1, /**/ 1, kNaN, /**/ 0, 1};
  EXPECT_EQ(predictions({logits, 2}), (std::vector<std::int32_t>{kNoPrediction, kNoPrediction, 1}));
}

TEST(Evaluate, CountsByHand) {
  const std::vector<float> logits = {2, 0, 0, /**/ 0, 1, 0, /**/ 0, 1, 0, /**/ 0, 3, 0};
  const std::vector<std::int32_t> labels = {0, 1, 0, 1};
  const Evaluation result = evaluate({logits, 3}, labels);
  EXPECT_EQ(result.examples, 4);
  EXPECT_EQ(result.correct, 3);
  EXPECT_EQ(result.accuracy, 0.75);
  EXPECT_EQ(result.confusion, (std::vector<std::int64_t>{1, 1, 0, /**/ 0, 2, 0, /**/ 0, 0, 0}));
  EXPECT_EQ(result.recall[0], 0.5);
  EXPECT_EQ(result.recall[1], 1.0);
  EXPECT_TRUE(std::isnan(result.recall[2])) << "class 2 has no examples";
  EXPECT_EQ(result.accuracy_interval.low, wilson_interval(3, 4).low);
  EXPECT_EQ(result.without_prediction, 0);
  EXPECT_EQ(result.majority_share, 0.5);
}

TEST(Evaluate, KnowsWhatTheMostFrequentLabelAloneWouldReach) {
  const std::vector<float> logits = {2, 0, 0, /**/ 0, 1, 0, /**/ 0, 1, 0, /**/ 0, 3, 0};
  EXPECT_EQ(evaluate({logits, 3}, std::vector<std::int32_t>{2, 2, 0, 2}).majority_share, 0.75);
  EXPECT_TRUE(std::isnan(evaluate({{}, 2}, {}).majority_share));
}

TEST(Evaluate, LossIsMeanCrossEntropy) {
  const std::vector<float> logits = {0, 0, /**/ 1, 3};
  const std::vector<std::int32_t> labels = {1, 0};
  // -log(1/2) and log(1 + e^2); a few roundings of numbers near 1.
  EXPECT_NEAR(evaluate({logits, 2}, labels).loss, (std::log(2.0) + std::log1p(std::exp(2.0))) / 2,
              1e-15);
}

TEST(Evaluate, LossOfLargeLogitsIsFinite) {
  const std::vector<float> logits = {3e38f, -3e38f, /**/ -1000, 1000};
  const std::vector<std::int32_t> labels = {0, 0};
  EXPECT_NEAR(evaluate({logits, 2}, labels).loss, 1000, 1e-12);
}

TEST(Evaluate, NaNIsNeverRightAndSpoilsTheLoss) {
  const std::vector<float> logits = {kNaN, 1, /**/ 0, 1};
  const std::vector<std::int32_t> labels = {0, 1};
  const Evaluation result = evaluate({logits, 2}, labels);
  EXPECT_EQ(result.correct, 1);
  EXPECT_EQ(result.without_prediction, 1);
  EXPECT_EQ(result.recall[0], 0);
  EXPECT_TRUE(std::isnan(result.loss));
}

TEST(Evaluate, NoExamplesGiveNoNumbers) {
  const Evaluation result = evaluate({{}, 2}, {});
  EXPECT_EQ(result.examples, 0);
  EXPECT_TRUE(std::isnan(result.accuracy));
  EXPECT_TRUE(std::isnan(result.loss));
}

TEST(Evaluate, RefusesLabelsThatAreNoClass) {
  const std::vector<float> logits = {0, 1, 0, 1};
  const std::vector<std::int32_t> labels = {1, 2};
  try {
    evaluate({logits, 2}, labels);
    FAIL() << "label 2 of 2 classes was accepted";
  } catch (const UserError& error) {
    EXPECT_STREQ(error.what(),
                 "labels: example 1 has label 2, the model tells 2 classes apart (labels 0 to 1); "
                 "check the label "
                 "column and the model's num_labels");
  }
  const std::vector<std::int32_t> negative = {-1, 0};
  EXPECT_THROW(evaluate({logits, 2}, negative), UserError);
}

TEST(Evaluate, RefusesAnotherNumberOfLabels) {
  const std::vector<float> logits = {0, 1, 0, 1};
  EXPECT_THROW(evaluate({logits, 2}, std::vector<std::int32_t>{1}), InternalError);
}

}  // namespace
}  // namespace hone
