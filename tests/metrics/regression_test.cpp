#include "hone/metrics/regression.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "hone/metrics/verdict.h"
#include "tests/metrics/golden.h"
#include "tests/support/expect.h"

namespace hone {
namespace {

using testing::golden_cases;
using Floats = std::vector<float>;

constexpr float kNotANumber = std::numeric_limits<float>::quiet_NaN();

RegressionEvaluation regression_of(const Floats& predictions, const Floats& targets,
                                   std::int64_t outputs = 1,
                                   const std::vector<std::int32_t>& texts = {}) {
  return evaluate_regression({predictions, outputs}, targets, texts);
}

void expect_errors(const ErrorMetrics& got, const Json& expected) {
  EXPECT_NEAR(got.mse, expected.at("mse").get<double>(), 1e-13);
  EXPECT_NEAR(got.rmse, expected.at("rmse").get<double>(), 1e-13);
  EXPECT_NEAR(got.mae, expected.at("mae").get<double>(), 1e-13);
  EXPECT_NEAR(got.r2, expected.at("r2").get<double>(), 1e-13);
}

TEST(EvaluateRegression, AgreesWithScipyAndScikitLearn) {
  for (const Json& golden : golden_cases("regression")) {
    const RegressionEvaluation e =
        regression_of(golden.at("predictions").get<Floats>(), golden.at("targets").get<Floats>(),
                      golden.at("outputs").get<std::int64_t>());
    expect_errors(e.errors, golden.at("errors"));
    expect_errors(e.constant_baseline, golden.at("baseline"));
    ASSERT_EQ(e.of_output.size(), golden.at("of_output").size());
    for (std::size_t o = 0; o < e.of_output.size(); ++o) {
      const Json& expected = golden.at("of_output")[o];
      const OutputMetrics& got = e.of_output[o];
      expect_errors(got.errors, expected);
      EXPECT_NEAR(got.pearson.value, expected.at("pearson").get<double>(), 1e-13);
      EXPECT_NEAR(got.pearson.interval.low, expected.at("pearson_interval")[0].get<double>(),
                  1e-12);
      EXPECT_NEAR(got.pearson.interval.high, expected.at("pearson_interval")[1].get<double>(),
                  1e-12);
      EXPECT_NEAR(got.spearman.value, expected.at("spearman").get<double>(), 1e-13);
    }
  }
}

TEST(EvaluateRegression, CountsWhatIsMeasuredByHand) {
  const RegressionEvaluation e = regression_of({1, 2, 5, 4}, {1, 3, 4, 8});
  EXPECT_EQ(e.examples, 4);
  EXPECT_DOUBLE_EQ(e.errors.mse, 18.0 / 4);
  EXPECT_DOUBLE_EQ(e.errors.mae, 6.0 / 4);
  EXPECT_DOUBLE_EQ(e.errors.r2, 1 - 18.0 / 26);
  EXPECT_DOUBLE_EQ(e.constant_baseline.mse, 26.0 / 4);
  EXPECT_EQ(e.constant_baseline.r2, 0);
  // Ranks 1 2 4 3 and 1 2 3 4: 1 - 6 Σ d² / (n (n² - 1)).
  EXPECT_DOUBLE_EQ(e.spearman, 1 - 6 * 2 / 60.0);
}

TEST(EvaluateRegression, TakesPredictionsThatAreNoNumbersForNothing) {
  for (const float wrong : {kNotANumber, std::numeric_limits<float>::infinity()}) {
    const RegressionEvaluation e = regression_of({1, wrong, 3}, {1, 2, 3});
    EXPECT_EQ(e.without_prediction, 1);
    for (const double figure : {e.errors.mse, e.errors.rmse, e.errors.mae, e.errors.r2, e.pearson,
                                e.spearman, e.of_output[0].errors.mse})
      EXPECT_TRUE(std::isnan(figure));
    EXPECT_EQ(e.of_output[0].pearson.interval.low, -1);
    EXPECT_GT(e.constant_baseline.mse, 0);
    EXPECT_EQ(concerns(e),
              std::vector<std::string>{
                  "1 of 3 examples have no prediction: the model's outputs are not finite"});
  }
}

TEST(EvaluateRegression, LeavesUndefinedWhatDividesByNoVariance) {
  const RegressionEvaluation same_targets = regression_of({1, 2, 3}, {2, 2, 2});
  EXPECT_TRUE(std::isnan(same_targets.errors.r2));
  EXPECT_TRUE(std::isnan(same_targets.pearson));
  EXPECT_EQ(concerns(same_targets)[0],
            "all 3 targets are the same, so there is no variance to explain");
  const RegressionEvaluation same_predictions = regression_of({0.1f, 0.1f, 0.1f}, {1, 2, 3});
  EXPECT_TRUE(std::isnan(same_predictions.pearson));
  EXPECT_TRUE(std::isnan(same_predictions.spearman));
  EXPECT_EQ(concerns(same_predictions)[0], "the model predicts the same number for all 3 examples");
  EXPECT_EQ(concerns(regression_of({3, 2, 1}, {1, 2, 3}))[0],
            "the model is no better than always giving the mean: its root mean squared error is "
            "1.633, that of the mean 0.8165");
  EXPECT_TRUE(concerns(regression_of({1, 2, 3}, {1, 2, 3})).empty());
  EXPECT_TRUE(std::isnan(regression_of({}, {}).errors.mse));
}

TEST(EvaluateRegression, RefusesTargetsThatAreNoNumbers) {
  EXPECT_EQ(user_error_of([] {
              regression_of({1, 2, 3, 4}, {1, 2, 3, kNotANumber}, 2);
            }),
            "targets: example 1 has nan, expected a finite number; check the label column, or "
            "leave examples without a target out");
}

TEST(CorrelationIntervals, AreFishersAndBonettsAndWrights) {
  // tanh(atanh 0.6 ± 1.96 / 5)
  const Interval pearson = pearson_interval(0.6, 28);
  EXPECT_NEAR(pearson.low, std::tanh(std::atanh(0.6) - 0.3919927969), 1e-10);
  EXPECT_NEAR(pearson.high, std::tanh(std::atanh(0.6) + 0.3919927969), 1e-10);
  const Interval spearman = spearman_interval(0.6, 28);
  const double half = 0.3919927969 * std::sqrt(1.18);
  EXPECT_NEAR(spearman.low, std::tanh(std::atanh(0.6) - half), 1e-10);
  EXPECT_NEAR(spearman.high, std::tanh(std::atanh(0.6) + half), 1e-10);
  EXPECT_EQ(pearson_interval(0.6, 3).low, -1);
  EXPECT_EQ(pearson_interval(0.6, 3).high, 1);
}

TEST(CorrelationIntervals, DoNotNarrowByRepetition) {
  Floats p = {1, 2, 5, 4, 3, 7}, t = {1, 3, 4, 8, 2, 6};
  const OutputMetrics once = regression_of(p, t).of_output[0];
  std::vector<std::int32_t> texts;
  Floats predictions, targets;
  for (int copy = 0; copy < 3; ++copy)
    for (std::int32_t i = 0; i < 6; ++i) {
      texts.push_back(i);
      predictions.push_back(p[static_cast<std::size_t>(i)]);
      targets.push_back(t[static_cast<std::size_t>(i)]);
    }
  const OutputMetrics thrice = regression_of(predictions, targets, 1, texts).of_output[0];
  EXPECT_NEAR(thrice.pearson.interval.low, once.pearson.interval.low, 1e-12);
  EXPECT_NEAR(thrice.spearman.interval.high, once.spearman.interval.high, 1e-12);
  EXPECT_GT(regression_of(predictions, targets).of_output[0].pearson.interval.low,
            once.pearson.interval.low);
}

TEST(RanksOf, AreMeansWhereValuesTie) {
  EXPECT_EQ(ranks_of(std::vector<double>{3, 1, 3, 2, 3}), (std::vector<double>{4, 1, 4, 2, 4}));
  EXPECT_EQ(ranks_of(std::vector<double>{1, 1}), (std::vector<double>{1.5, 1.5}));
}

TEST(CompareRegression, IsTheDifferenceOfBothR2) {
  const Floats t = {1, 3, 4, 8, 2, 6}, a = {1, 2, 5, 6, 3, 7}, b = {2, 2, 5, 4, 3, 7};
  const RegressionComparison c = compare_regression({a, 1}, {b, 1}, t);
  EXPECT_NEAR(c.r2.change, regression_of(b, t).errors.r2 - regression_of(a, t).errors.r2, 1e-15);
  EXPECT_DOUBLE_EQ(c.mean_shift, 3.0 / 6);
  EXPECT_EQ(c.r2.metric, kR2);
  EXPECT_LT(c.r2.interval->low, c.r2.change);
  // Two outputs use the sums over both.
  const Floats t2 = {1, 3, 4, 8, 2, 6}, a2 = {1, 2, 5, 6, 3, 7}, b2 = {2, 2, 5, 4, 3, 7};
  EXPECT_NEAR(compare_regression({a2, 2}, {b2, 2}, t2).r2.change,
              regression_of(b2, t2, 2).errors.r2 - regression_of(a2, t2, 2).errors.r2, 1e-15);
}

TEST(CompareRegression, LeavesItUnclearWhereNumbersAreNone) {
  const Floats t = {1, 3, 4}, a = {1, 2, 5}, b = {kNotANumber, 2, kNotANumber};
  const Verdict v = verdict(compare_regression({a, 1}, {b, 1}, t).r2);
  EXPECT_EQ(v.conclusion, Conclusion::inconclusive);
  EXPECT_TRUE(std::isnan(v.change));
  EXPECT_FALSE(v.change_interval);
  EXPECT_EQ(v.summary,
            "inconclusive: R² is not defined; 2 of 3 predictions of the candidate are not finite");
  const Floats same = {2, 2, 2};
  EXPECT_EQ(verdict(compare_regression({a, 1}, {a, 1}, same).r2).summary,
            "inconclusive: R² is not defined; all targets are the same");
  EXPECT_EQ(verdict(compare_regression({Floats{}, 1}, {Floats{}, 1}, Floats{}).r2).summary,
            "inconclusive: there are no examples");
  EXPECT_EQ(
      verdict(
          compare_regression({a, 1}, {Floats{1, 1, 1}, 1}, t, std::vector<std::int32_t>{0, 0, 0})
              .r2)
          .summary,
      "inconclusive: R² is not defined; there is only one example; predictions changed by 1.67 on "
      "average");
}

}  // namespace
}  // namespace hone
