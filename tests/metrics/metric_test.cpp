#include "hone/metrics/metric.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/support/expect.h"

namespace hone {
namespace {

// Labels 0 0 1 1 1 0 1 0, predictions 0 1 0 1 1 1 1 0.
const TaskEvaluation& evaluation() {
  static const std::vector<float> logits = {1, 0, 0, 1, 1, 0, 0, 1, 0, 1, 0, 1, 0, 1, 1, 0};
  static const std::vector<std::int32_t> labels = {0, 0, 1, 1, 1, 0, 1, 0};
  static const TaskEvaluation result = evaluate({logits, 2}, {.classes = labels});
  return result;
}

double value_of(const TaskEvaluation& e, std::string_view name) {
  return find_metric(e.task(), name).value(e);
}

TEST(FindMetric, KnowsThemWithAndWithoutHuggingFacesPrefix) {
  EXPECT_EQ(find_metric(Task::single_label, "eval_f1_macro").name, "f1_macro");
  EXPECT_EQ(value_of(evaluation(), "accuracy"), 0.625);
  EXPECT_FALSE(find_metric(Task::single_label, "eval_loss").greater_is_better);
  for (const Metric& metric : metrics(Task::single_label))
    EXPECT_EQ(&find_metric(Task::single_label, metric.name), &metric);
}

// scikit-learn with average="binary".
TEST(FindMetric, TakesClassOneOfTwoAsThePositiveOne) {
  EXPECT_DOUBLE_EQ(value_of(evaluation(), "precision"), 0.6);
  EXPECT_DOUBLE_EQ(value_of(evaluation(), "recall"), 0.75);
  EXPECT_DOUBLE_EQ(value_of(evaluation(), "f1"), 2.0 / 3);
}

TEST(FindMetric, KnowsThoseOfEveryTask) {
  const std::vector<float> truth = {1, 2, 3, 6}, given = {1, 3, 3, 5};
  const TaskEvaluation numbers = evaluate({given, 1}, {.task = Task::regression, .targets = truth});
  EXPECT_EQ(value_of(numbers, "eval_mse"), 0.5);
  EXPECT_EQ(value_of(numbers, "r2"), numbers.value);
  EXPECT_FALSE(is_better(find_metric(Task::regression, "rmse"), 2, 1));
  EXPECT_TRUE(is_better(find_metric(Task::regression, "pearson"), 2, 1));
  const std::vector<float> logits = {1, -1, 1, 1}, targets = {1, 0, 0, 1};
  const TaskEvaluation labels =
      evaluate({logits, 2}, {.task = Task::multi_label, .targets = targets});
  EXPECT_EQ(value_of(labels, "subset_accuracy"), 0.5);
  EXPECT_EQ(value_of(labels, "f1_micro"), 0.8);
  EXPECT_FALSE(find_metric(Task::multi_label, "loss").greater_is_better);
  for (const TaskEvaluation* e : {&numbers, &labels}) {
    EXPECT_EQ(value_of(*e, e->metric.key), e->value) << "the figure it is judged by";
    for (const Metric& metric : metrics(e->task()))
      EXPECT_FALSE(std::isnan(metric.value(*e))) << metric.name;
  }
}

TEST(FindMetric, SaysOfWhichTaskAnotherIs) {
  expect_user_error(
      "expected r2, loss, mse, rmse, mae, pearson, spearman, got 'accuracy', which is a metric of "
      "single_label_classification; the task is regression",
      [] { find_metric(Task::regression, "accuracy"); });
}

TEST(FindMetric, RefusesAnUnknownOneWithTheNearest) {
  expect_user_error("got 'f1_makro'; did you mean 'f1_macro'?",
                    [] { find_metric(Task::single_label, "f1_makro"); });
}

TEST(IsBetter, FollowsTheMetricAndNeverANaN) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Metric &accuracy = find_metric(Task::single_label, "accuracy"),
               &loss = find_metric(Task::single_label, "loss");
  EXPECT_TRUE(is_better(accuracy, 0.6, 0.5));
  EXPECT_FALSE(is_better(accuracy, 0.5, 0.5));
  EXPECT_TRUE(is_better(loss, 0.5, 0.6));
  EXPECT_FALSE(is_better(loss, nan, 0.6));
  EXPECT_TRUE(is_better(loss, 0.6, nan));
  EXPECT_FALSE(is_better(loss, nan, nan));
}

}  // namespace
}  // namespace hone
