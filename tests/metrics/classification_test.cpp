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

TEST(Predictions, RowWithAnInfinityHasNone) {
  const float infinity = std::numeric_limits<float>::infinity();
  const std::vector<float> logits = {infinity, infinity, /**/ 0, -infinity, /**/ 0, 1};
  EXPECT_EQ(predictions({logits, 2}), (std::vector<std::int32_t>{kNoPrediction, kNoPrediction, 1}));
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
  EXPECT_EQ(result.of_class[0].scores.recall, 0.5);
  EXPECT_EQ(result.of_class[0].recall_interval.high, wilson_interval(1, 2).high);
  EXPECT_EQ(result.of_class[1].precision_interval.low, wilson_interval(2, 3).low);
  EXPECT_EQ(result.of_class[1].scores.recall, 1.0);
  EXPECT_TRUE(std::isnan(result.of_class[2].scores.recall)) << "class 2 has no examples";
  EXPECT_EQ(result.accuracy_interval.low, wilson_interval(3, 4).low);
  EXPECT_EQ(result.without_prediction, 0);
  EXPECT_EQ(result.majority_share, 0.5);
}

TEST(Evaluate, KnowsWhatTheMostFrequentLabelAloneWouldReach) {
  const std::vector<float> logits = {2, 0, 0, /**/ 0, 1, 0, /**/ 0, 1, 0, /**/ 0, 3, 0};
  EXPECT_EQ(evaluate({logits, 3}, std::vector<std::int32_t>{2, 2, 0, 2}).majority_share, 0.75);
  EXPECT_TRUE(std::isnan(evaluate({{}, 2}, {}).majority_share));
}

/// Evaluates a model that confidently predicts `predicted`, one of `classes` classes each.
Evaluation of_predictions(const std::vector<std::int32_t>& labels,
                          const std::vector<std::int32_t>& predicted, std::size_t classes) {
  std::vector<float> logits(labels.size() * classes, 0);
  for (std::size_t i = 0; i < labels.size(); ++i)
    logits[i * classes + static_cast<std::size_t>(predicted[i])] = 1;
  return evaluate({logits, static_cast<std::int64_t>(classes)}, labels);
}

// precision_score, recall_score and f1_score of scikit-learn 1.9 with zero_division=0.
TEST(Evaluate, HasThePrecisionRecallAndF1OfScikitLearn) {
  const Evaluation e =
      of_predictions({0, 0, 0, 0, 1, 1, 1, 2, 2, 2, 2, 2}, {0, 0, 1, 2, 1, 1, 0, 2, 2, 2, 1, 3}, 5);
  const double precision[] = {2.0 / 3, 0.5, 0.75, 0}, recall[] = {0.5, 2.0 / 3, 0.6},
               f1[] = {4.0 / 7, 4.0 / 7, 2.0 / 3, 0};
  for (std::size_t c = 0; c < 4; ++c) {
    EXPECT_DOUBLE_EQ(e.of_class[c].scores.precision, precision[c]) << c;
    EXPECT_DOUBLE_EQ(e.of_class[c].scores.f1, f1[c]) << c;
  }
  for (std::size_t c = 0; c < 3; ++c) EXPECT_DOUBLE_EQ(e.of_class[c].scores.recall, recall[c]) << c;
  EXPECT_TRUE(std::isnan(e.of_class[3].scores.recall)) << "class 3 has no examples";
  EXPECT_TRUE(std::isnan(e.of_class[4].scores.f1)) << "class 4 does not occur";
  EXPECT_DOUBLE_EQ(e.macro.precision, 0.47916666666666663);
  EXPECT_DOUBLE_EQ(e.macro.recall, 0.44166666666666665);
  EXPECT_DOUBLE_EQ(e.macro.f1, 0.45238095238095233);
  EXPECT_DOUBLE_EQ(e.weighted.precision, 0.6597222222222222);
  EXPECT_DOUBLE_EQ(e.weighted.recall, 0.5833333333333334);
  EXPECT_DOUBLE_EQ(e.weighted.f1, 0.611111111111111);
  EXPECT_DOUBLE_EQ(e.weighted.recall, e.accuracy);
  EXPECT_EQ(e.count(/*label=*/2, /*predicted=*/3), 1);
  EXPECT_EQ(e.of_class[2].support, 5);
  EXPECT_EQ(e.of_class[1].predicted, 4);
}

TEST(Evaluate, CountsAClassThatIsNeverPredictedAsZeroInTheMeans) {
  const Evaluation e = of_predictions({0, 0, 1, 1, 1, 0, 1, 0}, {0, 0, 0, 0, 0, 0, 0, 0}, 2);
  EXPECT_TRUE(std::isnan(e.of_class[1].scores.precision));
  EXPECT_DOUBLE_EQ(e.macro.f1, 1.0 / 3);
  EXPECT_DOUBLE_EQ(e.weighted.precision, 0.25);
  EXPECT_DOUBLE_EQ(e.weighted.f1, 1.0 / 3);
}

TEST(Evaluate, HasTheAreaUnderTheCurveOfTwoClassesAlone) {
  const std::vector<float> two = {0, 1, /**/ 3, 0, /**/ 0, 2}, three(9, 1);
  const std::vector<std::int32_t> labels = {1, 0, 0};
  EXPECT_DOUBLE_EQ(evaluate({two, 2}, labels).auc.value, 0.5);
  EXPECT_TRUE(std::isnan(evaluate({three, 3}, labels).auc.value));
}

TEST(Concerns, NameTheOnlyClassThatIsPredicted) {
  const std::vector<std::string> labels = {"bad", "good"};
  const Evaluation collapsed = of_predictions({0, 1, 1, 1}, {1, 1, 1, 1}, 2);
  EXPECT_EQ(only_predicted_class(collapsed), 1);
  EXPECT_EQ(concerns(collapsed, labels),
            (std::vector<std::string>{"the model predicts one class only, 'good': correct for 3 "
                                      "of 4 examples"}));
  // All predictions are right, or all texts have the predicted class.
  EXPECT_TRUE(concerns(of_predictions({0, 1}, {0, 1}, 2), labels).empty());
  EXPECT_TRUE(concerns(of_predictions({1, 1}, {1, 1}, 2), labels).empty());
  EXPECT_TRUE(concerns(evaluate({{}, 2}, {}), labels).empty());
}

TEST(Concerns, NameTheClassesThatAreNeverPredicted) {
  EXPECT_EQ(concerns(of_predictions({0, 1, 2, 2}, {0, 1, 1, 0}, 3), {"bad", "good", "so so"}),
            (std::vector<std::string>{"the model never predicts 'so so' (n = 2)"}));
  // A class without texts is not reported.
  EXPECT_TRUE(concerns(of_predictions({0, 1}, {0, 1}, 3), {"a", "b", "c"}).empty());
}

TEST(Concerns, CountTheTextsWithoutAPrediction) {
  const std::vector<float> logits = {kNaN, 1, /**/ 0, 1, /**/ 1, 0};
  EXPECT_EQ(concerns(evaluate({logits, 2}, std::vector<std::int32_t>{0, 1, 0}), {"bad", "good"}),
            (std::vector<std::string>{
                "1 of 3 examples have no prediction: the model's outputs are not finite"}));
}

TEST(PredictionName, SaysWhenThereIsNone) {
  EXPECT_EQ(prediction_name(1, {"bad", "good"}), "good");
  EXPECT_EQ(prediction_name(kNoPrediction, {"bad", "good"}), "none (not a number)");
}

TEST(Evaluate, LossIsMeanCrossEntropy) {
  const std::vector<float> logits = {0, 0, /**/ 1, 3};
  const std::vector<std::int32_t> labels = {1, 0};
  // -log(1/2) and log(1 + e^2), with a few roundings of numbers near 1.
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
  EXPECT_EQ(result.of_class[0].scores.recall, 0);
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
                 "labels: example 1 has label 2, but the model has 2 classes (labels 0 to 1); "
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
