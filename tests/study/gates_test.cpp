#include "hone/study/gates.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/support/expect.h"

namespace hone {
namespace {

// Judges a model against itself on 400 examples of two classes.
BaselineVerdict judged(const std::vector<const char*>& gates) {
  std::vector<float> logits;
  std::vector<std::int32_t> classes;
  for (int i = 0; i < 400; ++i) {
    classes.push_back(i % 2);
    const bool says_one = i % 10 == 0 ? i % 2 == 0 : i % 2 == 1;
    logits.insert(logits.end(), {says_one ? 0.0f : 1.0f, says_one ? 1.0f : 0.0f});
  }
  std::vector<Gate> parsed;
  for (const char* gate : gates) parsed.push_back(parse_gate(gate, {.names = {"no", "yes"}}));
  return judge_baseline(parsed, {logits, 2}, {Task::single_label, classes}, /*evaluations=*/10);
}

TEST(ParentBesideItself, HasToShowThatItLosesNoMoreThanIsAllowed) {
  EXPECT_TRUE(judged({"accuracy>=-5"}).passes);
  const BaselineVerdict few = judged({"accuracy>=-0.5", "f1_macro>=-5"});
  EXPECT_FALSE(few.passes);
  EXPECT_EQ(few.hardest.metric, kAccuracy);
  EXPECT_GT(few.hardest.examples_needed, 400);
  EXPECT_NE(too_few_sentence(few, "validation", "10 evaluations").find("on validation, not even"),
            std::string::npos);
  EXPECT_NE(needed_text(few, "`looks`").find("examples for accuracy"), std::string::npos);
  // The smallest limit that passes, in steps of half a point.
  ASSERT_TRUE(few.min_limit_points.has_value());
  const auto passes = [](double points) {
    const std::string gate = fmt::format("accuracy>=-{:g}", points);
    return judged({gate.c_str(), "f1_macro>=-5"}).passes;
  };
  EXPECT_TRUE(passes(*few.min_limit_points));
  EXPECT_FALSE(passes(*few.min_limit_points - 0.5));
}

// The class has 200 examples, half of all, so the count in all examples is twice as large.
TEST(ParentBesideItself, CountsExamplesOfAllClassesForAGateOnOne) {
  const BaselineVerdict few = judged({"recall(yes)>=-0.5"});
  EXPECT_EQ(few.examples_needed, 2 * *few.hardest.examples_needed);
  ASSERT_TRUE(few.min_limit_points.has_value());
  // If two gates fail, a wider limit for one of them is not enough.
  EXPECT_EQ(judged({"recall(yes)>=-0.5", "accuracy>=-0.5"}).min_limit_points, std::nullopt);
}

TEST(ExamplesNeeded, AreThoseOfTheGateThatNeedsMost) {
  const LabelScheme scheme = {.names = {"no", "yes"}};
  JudgedGates judged{
      .gates = {parse_gate("accuracy>=-2", scheme), parse_gate("recall(yes)>=-2", scheme)},
      .changes = {{.examples = 1000}, {.examples = 250}}};
  judged.verdict.gates = {{.margin = 0.02, .examples_needed = 1500},
                          {.margin = 0.02, .examples_needed = 600}};
  EXPECT_EQ(examples_needed(judged, 1000), 2400);
  judged.verdict.gates[1].conclusion = Conclusion::within_limit;
  EXPECT_EQ(examples_needed(judged, 1000), 1500);
  judged.verdict.gates[0].change = -0.03;  // more examples would show that it exceeds the limit
  EXPECT_EQ(examples_needed(judged, 1000), std::nullopt);
  judged.verdict.gates[0] = {.margin = 0.02};  // too close to the limit
  EXPECT_EQ(examples_needed(judged, 1000), std::nullopt);
}

// The number of examples for metrics of regression depends on the candidate, so nothing is known before.
TEST(ParentBesideItself, SaysNothingOfMetricsOfNumbers) {
  const std::vector<float> targets = {1, 2, 3, 4, 5}, predictions = {1, 2, 3, 4, 4};
  const std::vector<Gate> gates = {
      parse_gate("r2>=-2", {.task = Task::regression, .names = {"stars"}})};
  const Truth truth{.task = Task::regression, .targets = targets};
  EXPECT_TRUE(judge_baseline(gates, {predictions, 1}, truth, /*evaluations=*/10).passes);
  std::vector<float> moved = predictions;
  for (std::size_t i = 0; i < moved.size(); ++i) moved[i] += i % 2 == 0 ? 1e-4f : -1e-4f;
  EXPECT_TRUE(judge(gates, {predictions, 1}, {moved, 1}, truth, 10).verdict.within_limit());
}

// The text gives a reason if the interval alone does not explain the verdict.
TEST(GateText, SaysWhyALimitIsInconclusiveThatTheIntervalKeeps) {
  const auto text_of = [](Verdict verdict) {
    JudgedGates judged{.gates = {parse_gate("accuracy>=-2", {.names = {"no", "yes"}})}};
    judged.verdict = {.gates = {std::move(verdict)}};
    return gate_text(judged, "test, n = 1,000");
  };
  const Verdict within{.margin = 0.02, .change_interval = Interval{-0.01, 0.01}, .candidates = 10};
  EXPECT_NE(text_of(within).find("corrected for 10 comparisons"), std::string::npos);
  EXPECT_NE(text_of(overruled(within, "something else decides")).find("something else decides"),
            std::string::npos);
  const Verdict wide{.margin = 0.02, .change_interval = Interval{-0.05, 0.01}, .candidates = 10};
  EXPECT_TRUE(text_of(wide).ends_with("inconclusive.")) << text_of(wide);
}

// No number of examples shows that a model gains against itself.
TEST(ParentBesideItself, NeedNotGainAnything) {
  EXPECT_TRUE(judged({"f1_macro>=0.5"}).passes);
  EXPECT_TRUE(judged({"accuracy>=0", "f1_macro>=0.5", "recall(yes)>=-20"}).passes);
  const BaselineVerdict few = judged({"accuracy>=-0.5", "f1_macro>=0.5"});
  EXPECT_FALSE(few.passes);
  EXPECT_EQ(few.hardest.metric, kAccuracy);
}

const LabelScheme kTwo = {.names = {"no", "yes"}};

TEST(GatesFor, RefusesTwoLimitsOnOneMetric) {
  expect_user_error("`max_drop` 0.01 and 'accuracy>=-5'",
                    [] { gates_for({.max_drop_points = 0.01, .gates = {"accuracy>=-5"}}, kTwo); });
  const std::vector<Gate> usual =
      gates_for({.gates = {"accuracy>=-5"}, .default_drop_points = 0.5}, kTwo);
  ASSERT_EQ(usual.size(), 1u);
  EXPECT_EQ(usual[0].margin, 0.05);
}

// Judges a change on 300 examples of class `no` and 100 of `yes`, with each text twice. The compressed model gets 20 of
// `yes` wrong.
JudgedGates judged_change(const std::vector<const char*>& gates) {
  std::vector<float> before, after;
  std::vector<std::int32_t> classes, texts;
  for (int i = 0; i < 400; ++i) {
    const bool yes = i >= 300, lost = yes && i < 320;
    classes.push_back(yes ? 1 : 0);
    texts.push_back(i / 2);
    before.insert(before.end(), {yes ? 0.0f : 1.0f, yes ? 1.0f : 0.0f});
    after.insert(after.end(), {yes && !lost ? 0.0f : 1.0f, yes && !lost ? 1.0f : 0.0f});
  }
  std::vector<Gate> parsed;
  for (const char* gate : gates) parsed.push_back(parse_gate(gate, kTwo));
  return judge(parsed, {before, 2}, {after, 2}, {Task::single_label, classes, {}, texts});
}

TEST(GateHeadline, NamesTheGatesThatDecide) {
  EXPECT_EQ(gate_headline(judged_change({"recall(yes)>=-1"})),
            "recall of yes dropped by more than 1 point (100.0% → 80.0%)");
  const std::string several = gate_headline(judged_change({"recall(no)>=-50", "recall(yes)>=-1"}));
  EXPECT_TRUE(several.starts_with("1 of 2 gates failed: recall of yes")) << several;
  EXPECT_TRUE(gate_headline(judged_change({"recall(no)>=-50", "accuracy>=-50"}))
                  .starts_with("2 gates passed: "));
}

// 1,000 examples seen in training hide the loss on the other 200.
TEST(Judge, JudgesUnseenRowsAlone) {
  std::vector<float> before, after;
  std::vector<std::int32_t> classes, texts;
  std::vector<std::int64_t> unseen;
  for (int i = 0; i < 1200; ++i) {
    const bool is_new = i >= 1000, lost = i >= 1000 && i < 1005;
    classes.push_back(1);
    texts.push_back(i);
    if (is_new) unseen.push_back(i);
    before.insert(before.end(), {0.0f, 1.0f});
    after.insert(after.end(), {lost ? 1.0f : 0.0f, lost ? 0.0f : 1.0f});
  }
  const std::vector<Gate> gates = {parse_gate("accuracy>=-2", kTwo)};
  const Truth truth{.classes = classes, .texts = texts, .unseen = unseen};
  const JudgedGates judged = judge(gates, {before, 2}, {after, 2}, truth);
  EXPECT_TRUE(judged.verdict.within_limit());
  ASSERT_TRUE(judged.unseen);
  EXPECT_EQ(judged.unseen->conclusion, Conclusion::inconclusive);
  const std::string said = unseen_change_sentence(judged, compare({before, 2}, {after, 2}, truth));
  EXPECT_TRUE(
      said.starts_with(" Without the 1,000 examples seen in training or used for choices, "
                       "n = 200: accuracy changed by -2.50 points"))
      << said;
  EXPECT_FALSE(judge(gates, {before, 2}, {after, 2}, {.classes = classes}).unseen);
}

TEST(ShownVerdict, IsThatOfTheGateOnTheMetricOrNone) {
  EXPECT_FALSE(shown_verdict({}, kAccuracy));
  EXPECT_FALSE(shown_verdict(judged_change({"recall(yes)>=-1"}), kAccuracy));
  const auto shown = shown_verdict(judged_change({"recall(yes)>=-1", "accuracy>=-50"}), kAccuracy);
  ASSERT_TRUE(shown);
  EXPECT_EQ(shown->margin, 0.5);
}

TEST(GateTable, HasTheEffectiveNumberOfExamplesWhereTextsRepeat) {
  const Json row = to_json(gate_table(judged_change({"recall(yes)>=-1"})))[0];
  EXPECT_EQ(row["counted"], "examples of yes");
  EXPECT_EQ(row["examples"], 100);
  EXPECT_EQ(row["effective_examples"], 50);
}

TEST(GateTable, SaysWhatAVerdictWasTakenByThatTheIntervalContradicts) {
  const auto shown = [](Verdict verdict) {
    JudgedGates judged{.gates = {parse_gate("accuracy>=-2", kTwo)}, .changes = {{.examples = 9}}};
    judged.verdict = {.gates = {std::move(verdict)}};
    return to_json(gate_table(judged))[0]["verdict"].get<std::string>();
  };
  Verdict within{.margin = 0.02, .change_interval = Interval{-0.01, 0.01}, .p_value = 0.054};
  EXPECT_NE(shown(within).find("0.054"), std::string::npos) << shown(within);
  within.p_value = 1e-4;
  EXPECT_NE(shown(overruled(within, "another split decides")), "inconclusive");
  within.change_interval->low = -0.05;
  EXPECT_EQ(shown(within), "inconclusive");
}

TEST(GateTable, ShowsTheChangeOfFewSeedsWithoutAnInterval) {
  JudgedGates judged = judged_change({"recall(yes)>=-1"});
  judged.changes.clear();  // as for several seeds
  Verdict& verdict = judged.verdict.gates[0];
  verdict.change_interval.reset();
  EXPECT_EQ(to_json(gate_table(judged))[0]["change"], verdict.change);
}

TEST(LostClasses, ReadWithTheLeastPValueThatADoubleTells) {
  const std::string text =
      degraded_class_text({{.index = 1, .examples = 9, .interval = {}, .p_value = 0}}, {"a", "b"});
  EXPECT_NE(text.find("p < 1e-300"), std::string::npos) << text;
}

TEST(LostClasses, AreNamedUpToTwoAndListedAllInATable) {
  const std::vector<DegradedClass> lost = {
      {.index = 2, .examples = 9, .change = -0.5, .interval = {}},
      {.index = 0, .examples = 8, .change = -0.25, .interval = {}},
      {.index = 1, .examples = 7, .change = -0.125, .interval = {}}};
  const std::vector<std::string> labels = {"a", "b", "c"};
  const std::string text = degraded_class_text(lost, labels);
  EXPECT_LT(text.find("'c'"), text.find("'a'"));
  EXPECT_NE(text.find("1 other,"), std::string::npos) << text;
  EXPECT_EQ(text.find("'b'"), std::string::npos) << text;
  const Json rows = to_json(degraded_class_table(lost, labels));
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[2]["class"], "b");
  EXPECT_EQ(rows[2]["recall_change"], -0.125);
}

}  // namespace
}  // namespace hone
