#include "hone/metrics/metric.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/support/expect.h"

namespace hone {
namespace {

// Labels 0 0 1 1 1 0 1 0, predictions 0 1 0 1 1 1 1 0.
const Evaluation& evaluation() {
  static const std::vector<float> logits = {1, 0, 0, 1, 1, 0, 0, 1, 0, 1, 0, 1, 0, 1, 1, 0};
  static const Evaluation result =
      evaluate({logits, 2}, std::vector<std::int32_t>{0, 0, 1, 1, 1, 0, 1, 0});
  return result;
}

TEST(FindMetric, KnowsThemWithAndWithoutHuggingFacesPrefix) {
  EXPECT_EQ(find_metric("eval_f1_macro").name, "f1_macro");
  EXPECT_EQ(find_metric("accuracy").value(evaluation()), 0.625);
  EXPECT_FALSE(find_metric("eval_loss").greater_is_better);
  for (const Metric& metric : metrics()) EXPECT_EQ(&find_metric(metric.name), &metric);
}

// scikit-learn with average="binary".
TEST(FindMetric, TakesClassOneOfTwoAsThePositiveOne) {
  EXPECT_DOUBLE_EQ(find_metric("precision").value(evaluation()), 0.6);
  EXPECT_DOUBLE_EQ(find_metric("recall").value(evaluation()), 0.75);
  EXPECT_DOUBLE_EQ(find_metric("f1").value(evaluation()), 2.0 / 3);
}

TEST(FindMetric, KnowsTheTablesOfOtherTasks) {
  const std::vector<float> truth = {1, 2, 3, 6}, given = {1, 3, 3, 5};
  const RegressionEvaluation numbers = evaluate_regression({given, 1}, truth);
  EXPECT_EQ(find_metric(regression_metrics(), "eval_mse").value(numbers), 0.5);
  EXPECT_EQ(find_metric(regression_metrics(), "r2").value(numbers), numbers.errors.r2);
  EXPECT_FALSE(is_better(find_metric(regression_metrics(), "rmse"), 2, 1));
  EXPECT_TRUE(is_better(find_metric(regression_metrics(), "pearson"), 2, 1));
  const std::vector<float> logits = {1, -1, 1, 1}, targets = {1, 0, 0, 1};
  const MultiLabelEvaluation labels = evaluate_multi_label({logits, 2}, targets);
  EXPECT_EQ(find_metric(multi_label_metrics(), "subset_accuracy").value(labels), 0.5);
  EXPECT_EQ(find_metric(multi_label_metrics(), "f1_micro").value(labels), 0.8);
  EXPECT_FALSE(find_metric(multi_label_metrics(), "loss").greater_is_better);
  for (const RegressionMetric& metric : regression_metrics())
    EXPECT_FALSE(std::isnan(metric.value(numbers))) << metric.name;
  for (const MultiLabelMetric& metric : multi_label_metrics())
    EXPECT_FALSE(std::isnan(metric.value(labels))) << metric.name;
  expect_user_error("expected r2, loss, mse, rmse, mae, pearson, spearman, got 'accuracy'",
                    [] { find_metric(regression_metrics(), "accuracy"); });
}

TEST(FindMetric, RefusesAnUnknownOneWithTheNearest) {
  expect_user_error("got 'f1_makro'; did you mean 'f1_macro'?", [] { find_metric("f1_makro"); });
}

TEST(IsBetter, FollowsTheMetricAndNeverANaN) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Metric &accuracy = find_metric("accuracy"), &loss = find_metric("loss");
  EXPECT_TRUE(is_better(accuracy, 0.6, 0.5));
  EXPECT_FALSE(is_better(accuracy, 0.5, 0.5));
  EXPECT_TRUE(is_better(loss, 0.5, 0.6));
  EXPECT_FALSE(is_better(loss, nan, 0.6));
  EXPECT_TRUE(is_better(loss, 0.6, nan));
  EXPECT_FALSE(is_better(loss, nan, nan));
}

}  // namespace
}  // namespace hone
