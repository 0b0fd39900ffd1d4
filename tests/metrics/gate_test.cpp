#include "hone/metrics/gate.h"

#include <gtest/gtest.h>

#include "tests/support/expect.h"

namespace hone {
namespace {

const LabelScheme& topics() {
  static const LabelScheme scheme = {
      Task::single_label, {"legal", "law (civil)", "a>=b", "it's", "\"quoted\"", "two words"}};
  return scheme;
}
const LabelScheme& sentiment() {
  static const LabelScheme scheme = {Task::single_label, {"negative", "positive"}};
  return scheme;
}
const LabelScheme& tags() {
  static const LabelScheme scheme = {Task::multi_label, {"urgent", "spam"}};
  return scheme;
}
const LabelScheme& numbers() {
  static const LabelScheme scheme = {Task::regression, {"price"}};
  return scheme;
}

struct Accepted {
  const LabelScheme& scheme;
  std::string_view text, key, shown;
  double margin;
};

TEST(ParseGate, AcceptsMetricsOfTheWholeAndOfOneClass) {
  const Accepted table[] = {
      {topics(), "recall(legal)>=-2", "recall(legal)", "recall of legal", 0.02},
      {topics(), "f1(legal)>=-2", "f1(legal)", "F1 of legal", 0.02},
      {topics(), "precision(legal)>=-0.25", "precision(legal)", "precision of legal", 0.0025},
      {topics(), "  recall ( legal )  >=  -2 ", "recall(legal)", "recall of legal", 0.02},
      {topics(), "recall('legal')>=-2", "recall(legal)", "recall of legal", 0.02},
      {topics(), "recall( \"legal\" )>=-2", "recall(legal)", "recall of legal", 0.02},
      {topics(), "recall(two words)>=-2", "recall(two words)", "recall of two words", 0.02},
      {topics(), "recall('two words')>=-2", "recall(two words)", "recall of two words", 0.02},
      {topics(), "recall(law (civil))>=-2", "recall(law (civil))", "recall of law (civil)", 0.02},
      {topics(), "recall(a>=b)>=-2", "recall(a>=b)", "recall of a>=b", 0.02},
      {topics(), "recall(it's)>=-2", "recall(it's)", "recall of it's", 0.02},
      // The quotes belong to this name.
      {topics(), "recall(\"quoted\")>=-2", "recall(\"quoted\")", "recall of \"quoted\"", 0.02},
      {topics(), "f1_macro>=-0.5", "f1_macro", "macro F1", 0.005},
      {topics(), "macro_f1>=-0.5", "f1_macro", "macro F1", 0.005},
      {topics(), "eval_f1_macro>=-0.5", "f1_macro", "macro F1", 0.005},
      {topics(), "eval_macro_f1>=-0.5", "f1_macro", "macro F1", 0.005},
      {topics(), "weighted_precision>=-1", "precision_weighted", "weighted precision", 0.01},
      {topics(), "accuracy>=0", "accuracy", "accuracy", 0},
      {topics(), "accuracy>=-0", "accuracy", "accuracy", 0},
      {topics(), "accuracy>=1", "accuracy", "accuracy", -0.01},
      {topics(), "accuracy>=+1.5e0", "accuracy", "accuracy", -0.015},
      {topics(), "accuracy>=-100", "accuracy", "accuracy", 1},
      // With two classes, these are the metrics of class 1.
      {sentiment(), "recall>=-2", "recall(positive)", "recall of positive", 0.02},
      {sentiment(), "eval_f1>=-2", "f1(positive)", "F1 of positive", 0.02},
      {sentiment(), "precision(negative)>=-2", "precision(negative)", "precision of negative",
       0.02},
      {sentiment(), "auc>=-1", "auc", "area under the ROC curve", 0.01},
      {tags(), "recall(spam)>=-2", "recall(spam)", "recall of spam", 0.02},
      {tags(), "f1_micro>=-2", "f1_micro", "micro F1", 0.02},
      {tags(), "samples_f1>=-2", "f1_samples", "F1 averaged over examples", 0.02},
      {tags(), "auc_macro>=-2", "auc_macro", "macro area under the ROC curve", 0.02},
      {numbers(), "r2>=-1", "r2", "R²", 0.01},
      {numbers(), "spearman>=-1", "spearman", "Spearman's correlation", 0.01}};
  for (const Accepted& one : table) {
    SCOPED_TRACE(one.text);
    const Gate gate = parse_gate(one.text, one.scheme);
    EXPECT_EQ(gate.metric.key, one.key);
    EXPECT_EQ(gate.metric.text, one.shown);
    EXPECT_EQ(gate.metric.may_be_negative, one.scheme.task == Task::regression);
    EXPECT_DOUBLE_EQ(gate.margin, one.margin);
    EXPECT_FALSE(std::signbit(gate.margin) && gate.margin == 0);
    EXPECT_EQ(gate.text, one.text);
    EXPECT_EQ(gate.of_class.has_value(), one.key.find('(') != std::string_view::npos);
    EXPECT_NO_THROW(check_gate_syntax(one.text));
  }
}

TEST(ParseGate, NumbersTheClassInTheOrderOfTheNames) {
  const Gate gate = parse_gate("f1(law (civil))>=-2", topics());
  EXPECT_EQ(gate.base_metric, "f1");
  EXPECT_EQ(gate.of_class, 1);
  EXPECT_EQ(gate.class_name, "law (civil)");
  EXPECT_EQ(parse_gate("recall>=-2", sentiment()).of_class, 1);
}

struct Refused {
  const LabelScheme& scheme;
  std::string_view text, message;
};

void expect_refused(std::span<const Refused> table) {
  for (const Refused& one : table) {
    SCOPED_TRACE(one.text);
    const std::string message = user_error_of([&] { parse_gate(one.text, one.scheme); });
    EXPECT_TRUE(message.starts_with(fmt::format("gate '{}': ", one.text))) << message;
    EXPECT_NE(message.find(one.message), std::string::npos)
        << "expected '" << one.message << "' in: " << message;
  }
}

TEST(ParseGate, RefusesAnotherSyntax) {
  const Refused table[] = {{topics(), "", "there is no >="},
                           {topics(), "recall(legal)", "there is no >="},
                           {topics(), "recall(legal)>-2", "there is no >="},
                           {topics(), "recall(legal)=>-2", "there is no >="},
                           {topics(), "recall(legal>=-2", "a class ends with ) before >="},
                           {topics(), "recall(a>=b)", "a class ends with ) before >="},
                           {topics(), "recall()>=-2", "there is no class between ( and )"},
                           {topics(), "recall( )>=-2", "there is no class between ( and )"},
                           {topics(), ">=-2", "'' is not the name of a metric"},
                           {topics(), "(legal)>=-2", "'' is not the name of a metric"},
                           {topics(), "f1 macro>=-2", "'f1 macro' is not the name of a metric"},
                           {topics(), "accuracy>=", "'' is no number of points"},
                           {topics(), "accuracy>=-2%", "'-2%' is no number of points"},
                           {topics(), "accuracy>=two", "'two' is no number of points"},
                           {topics(), "accuracy>=+-2", "'+-2' is no number of points"},
                           {topics(), "accuracy>=nan", "'nan' is no number of points"},
                           {topics(), "accuracy>=-inf", "'-inf' is no number of points"},
                           {topics(), "accuracy>=1e400", "'1e400' is no number of points"},
                           {topics(), "accuracy>=-100.5", "a metric changes by 100 points at most"},
                           {topics(), "accuracy>=101", "a metric changes by 100 points at most"}};
  expect_refused(table);
  for (const Refused& one : table) {
    expect_user_error("expected METRIC>=-POINTS or METRIC(CLASS)>=-POINTS",
                      [&] { check_gate_syntax(one.text); });
  }
  EXPECT_NO_THROW(check_gate_syntax("recall(any class)>=-3"));
  EXPECT_NO_THROW(check_gate_syntax("macro_f1>=-3"));
  EXPECT_NO_THROW(check_gate_syntax("r2>=-3"));
  expect_user_error("did you mean 'f1_macro'?", [] { check_gate_syntax("f1_macroo>=-3"); });
}

TEST(ParseGate, RefusesAMetricThatTheTaskDoesNotHave) {
  const Refused table[] = {
      {topics(), "acuracy>=-2", "got 'acuracy'; did you mean 'accuracy'?"},
      {topics(), "f1_makro>=-2", "got 'f1_makro'; did you mean 'f1_macro'?"},
      {topics(), "recal>=-2", "got 'recal'; did you mean 'recall'?"},
      {topics(), "recal>=-2", "recall_weighted, precision(CLASS), recall(CLASS), f1(CLASS), got"},
      {topics(), "r2>=-2",
       "got 'r2', which is a metric of regression; the task is single_label_classification"},
      {topics(), "f1_samples>=-2", "which is a metric of multi_label_classification"},
      {numbers(), "accuracy>=-2",
       "expected one of r2, pearson, spearman, got 'accuracy', which is a metric of "
       "single_label_classification; the task is regression"},
      {numbers(), "recall>=-2", "which is a metric of single_label_classification"},
      {tags(), "accuracy>=-2", "which is a metric of single_label_classification"},
      {topics(), "auc>=-2", "area under the ROC curve is defined for two classes, and there are 6"},
      {topics(), "recall>=-2",
       "of which class? Write recall(legal)>=…, or gate recall_macro; the classes are legal, law "
       "(civil), a>=b, it's, \"quoted\", two words"},
      {tags(), "f1>=-2", "of which class? Write f1(urgent)>=…, or gate f1_macro"}};
  expect_refused(table);
}

TEST(ParseGate, RefusesAMetricOfWhichLessIsBetter) {
  const Refused table[] = {
      {topics(), "loss>=-2", "loss is not counted in points; gate accuracy instead"},
      {tags(), "loss>=-2", "loss is not counted in points; gate f1_micro instead"},
      {numbers(), "loss>=-2", "loss is not counted in points; gate r2 instead"},
      {numbers(), "mse>=-2", "mean squared error is not counted in points; gate r2 instead"},
      {numbers(), "rmse>=-2", "root mean squared error is not counted in points; gate r2 instead"},
      {numbers(), "mae>=-2", "mean absolute error is not counted in points; gate r2 instead"}};
  expect_refused(table);
}

TEST(ParseGate, RefusesAClassThatIsNotOne) {
  const Refused table[] = {
      {topics(), "recall(legl)>=-2",
       "expected one of the classes legal, law (civil), a>=b, it's, \"quoted\", two words, got "
       "'legl'; did you mean 'legal'?"},
      {topics(), "recall('legl')>=-2", "got 'legl'; did you mean 'legal'?"},
      {tags(), "recall(sport)>=-2", "expected one of the classes urgent, spam, got 'sport'"},
      {numbers(), "r2(price)>=-2", "numbers have no classes; gate r2, pearson, spearman"}};
  expect_refused(table);
}

TEST(ParseGate, RefusesAMetricThatIsNotOfOneClass) {
  const Refused table[] = {
      {topics(), "recal(legal)>=-2",
       "there is no metric 'recal' of one class, expected precision, recall, f1; did you mean "
       "'recall'?"},
      {topics(), "xyz(legal)>=-2",
       "there is no metric 'xyz' of one class, expected precision, recall, f1"},
      {topics(), "r2(legal)>=-2", "there is no metric 'r2' of one class, expected precision"},
      {topics(), "macro_f1(legal)>=-2",
       "macro_f1 is computed over all classes; for one class, gate precision, recall, f1"},
      {sentiment(), "auc(positive)>=-2", "auc is computed over all classes; for one class"}};
  expect_refused(table);
}

TEST(GatedValue, ReadsTheMetricOfTheWholeAndOfAClass) {
  // Labels 0 0 1 1 1 0 1 0, predictions 0 1 0 1 1 1 1 0.
  const std::vector<float> logits = {1, 0, 0, 1, 1, 0, 0, 1, 0, 1, 0, 1, 0, 1, 1, 0};
  const std::vector<std::int32_t> labels = {0, 0, 1, 1, 1, 0, 1, 0};
  const TaskEvaluation e = evaluate({logits, 2}, {.classes = labels});
  const auto value = [&](std::string_view text) {
    return gated_value(parse_gate(text, sentiment()), e);
  };
  EXPECT_DOUBLE_EQ(value("accuracy>=0"), 5.0 / 8);
  EXPECT_DOUBLE_EQ(value("precision>=0"), 3.0 / 5);
  EXPECT_DOUBLE_EQ(value("recall(positive)>=0"), 3.0 / 4);
  EXPECT_DOUBLE_EQ(value("recall(negative)>=0"), 2.0 / 4);
  EXPECT_DOUBLE_EQ(value("f1(negative)>=0"), 4.0 / 7);
  EXPECT_DOUBLE_EQ(value("f1_macro>=0"), (4.0 / 7 + 2.0 / 3) / 2);
  const std::vector<float> answers = {1, -1, 1, 1, -1, 1}, targets = {1, 0, 0, 1, 1, 1};
  const TaskEvaluation of_tags =
      evaluate({answers, 2}, {.task = Task::multi_label, .targets = targets});
  EXPECT_DOUBLE_EQ(gated_value(parse_gate("recall(urgent)>=0", tags()), of_tags), 1.0 / 2);
  EXPECT_DOUBLE_EQ(gated_value(parse_gate("recall(spam)>=0", tags()), of_tags), 1);
}

}  // namespace
}  // namespace hone
