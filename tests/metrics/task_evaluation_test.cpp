#include "hone/metrics/task_evaluation.h"

#include <gtest/gtest.h>

#include <cmath>

#include "hone/base/random.h"
#include "hone/metrics/seeds.h"
#include "hone/metrics/verdict.h"

namespace hone {
namespace {

using Floats = std::vector<float>;

TEST(TaskEvaluation, HasTheFigureByWhichItsTaskIsJudged) {
  const Floats logits = {2, 0, 0, 1, 3, 0, 0, 2};
  const std::vector<std::int32_t> classes = {0, 1, 0, 0};
  const TaskEvaluation c = evaluate({logits, 2}, {.classes = classes});
  EXPECT_EQ(c.task(), Task::single_label);
  EXPECT_EQ(c.metric, kAccuracy);
  EXPECT_EQ(c.value, 0.75);
  EXPECT_EQ(c.interval.low, c.classes()->accuracy_interval.low);
  EXPECT_EQ(constant_baseline_text(c), "always predicting the most frequent class scores 75.0%");

  const Floats numbers = {1, 3, 3, 5}, truth = {1, 2, 3, 6};
  const TaskEvaluation r = evaluate({numbers, 1}, {.task = Task::regression, .targets = truth});
  EXPECT_EQ(r.task(), Task::regression);
  EXPECT_EQ(r.metric, kR2);
  EXPECT_EQ(r.value, 1 - 2 / 14.0);
  EXPECT_EQ(r.loss, 0.5);
  EXPECT_EQ(constant_baseline_text(r), "always predicting the mean scores 0.0%");
  EXPECT_EQ(r.classes(), nullptr);

  const Floats answers = {1, -1, 1, 1}, has = {1, 0, 0, 1};
  const TaskEvaluation m = evaluate({answers, 2}, {.task = Task::multi_label, .targets = has});
  EXPECT_EQ(m.task(), Task::multi_label);
  EXPECT_EQ(m.metric, kMicroF1);
  EXPECT_EQ(m.value, 0.8);
}

// Rows 0 and 3 were seen in training. Rows 1 and 2 have the same text.
TEST(TaskEvaluation, CountsUnseenRowsAlone) {
  const Floats logits = {2, 0, 0, 1, 3, 0, 0, 2}, worse = {2, 0, 1, 0, 3, 0, 0, 2};
  const std::vector<std::int32_t> classes = {0, 1, 1, 1}, numbers = {0, 1, 1, 2}, alone = {1, 1},
                                  one_text = {0, 0};
  const std::vector<std::int64_t> unseen = {1, 2};
  const Truth truth{.classes = classes, .texts = numbers, .unseen = unseen};
  const TaskEvaluation all = evaluate({logits, 2}, truth);
  ASSERT_TRUE(all.unseen);
  EXPECT_EQ(all.value, 0.75);
  EXPECT_EQ(all.unseen->value, 0.5);
  EXPECT_EQ(all.unseen->examples, 2);
  EXPECT_EQ(all.unseen->evidence, 0.5);
  const Floats some = {0, 1, 3, 0};
  EXPECT_EQ(all.unseen->interval.low,
            evaluate({some, 2}, {.classes = alone, .texts = one_text}).interval.low);
  const TaskComparison change = compare({logits, 2}, {worse, 2}, truth);
  ASSERT_TRUE(change.unseen);
  EXPECT_EQ(change.change.change, -0.25);
  EXPECT_EQ(change.unseen->change, -0.5);
  EXPECT_EQ(change.unseen->examples, 2);
  EXPECT_FALSE(evaluate({logits, 2}, {.classes = classes}).unseen);

  const Floats given = {1, 3, 3, 5}, right = {9, 2, 3, 6};
  const TaskEvaluation r = evaluate(
      {given, 1}, {.task = Task::regression, .targets = right, .texts = numbers, .unseen = unseen});
  const Floats two = {3, 3}, of_two = {2, 3};
  EXPECT_EQ(
      r.unseen->value,
      evaluate({two, 1}, {.task = Task::regression, .targets = of_two, .texts = one_text}).value);
}

// A model that is no better than a constant prediction has nothing to lose by compression.
TEST(TaskEvaluation, SaysWhereTheFigureIsNotAboveTheBaseline) {
  std::vector<float> truth, given;
  for (int i = 0; i < 30; ++i) {
    truth.push_back(static_cast<float>(i % 5));
    given.push_back(2 + 0.1f * static_cast<float>(i % 3));
  }
  given[0] = 1.5f;
  const TaskEvaluation poor = evaluate({given, 1}, {.task = Task::regression, .targets = truth});
  EXPECT_EQ(concerns(poor, {"stars"}).size(), 1u) << poor.value << " from " << poor.interval.low;
  const TaskEvaluation good = evaluate({truth, 1}, {.task = Task::regression, .targets = truth});
  EXPECT_TRUE(concerns(good, {"stars"}).empty());
  // Each text has one of two labels. Random predictions do no better than always predicting both.
  std::vector<float> coins, halves;
  for (int i = 0; i < 80; ++i) {
    halves.push_back(static_cast<float>((i / 2 + i) % 2));
    coins.push_back(i % 4 < 2 ? 1.0f : -1.0f);
  }
  const TaskEvaluation c = evaluate({coins, 2}, {.task = Task::multi_label, .targets = halves});
  EXPECT_NEAR(c.constant_baseline, 2.0 / 3, 1e-12);
  ASSERT_EQ(concerns(c, {"a", "b"}).size(), 1u);
  EXPECT_NE(concerns(c, {"a", "b"})[0].find("micro F1 is not shown to be above"),
            std::string::npos);
  // Classes: half of the predictions are right, with both classes predicted equally often.
  std::vector<float> tossed;
  std::vector<std::int32_t> classes;
  for (int i = 0; i < 400; ++i) {
    tossed.insert(tossed.end(), {i % 2 == 0 ? 1.0f : 0.0f, 0.5f});
    classes.push_back(i / 2 % 2);
  }
  const TaskEvaluation half = evaluate({tossed, 2}, {.classes = classes});
  ASSERT_EQ(concerns(half, {"bad", "good"}).size(), 1u);
  EXPECT_EQ(
      concerns(half, {"bad", "good"})[0],
      "accuracy is not shown to be above that of a constant prediction: 50.0% (95% CI 45.1 to "
      "54.9), and always predicting the most frequent class scores 50.0%");
}

// Being within the limit then means almost nothing, and the summary says so.
TEST(TaskComparison, SaysWhereTheParentHadNothingToKeep) {
  const auto summary_of = [](int right) {
    std::vector<float> outputs;
    std::vector<std::int32_t> classes;
    for (int i = 0; i < 400; ++i) {
      classes.push_back(i % 2);
      const float says = (i / 2 < right) == (i % 2 == 1) ? 1.0f : -1.0f;
      outputs.insert(outputs.end(), {0.0f, says});
    }
    return verdict(compare({outputs, 2}, {outputs, 2}, {.classes = classes}).change, 0.05).summary;
  };
  const std::string note =
      "; the baseline is not shown to be better than always predicting the most frequent class";
  EXPECT_NE(summary_of(105).find("within the allowed drop"), std::string::npos);
  EXPECT_NE(summary_of(105).find(note), std::string::npos) << summary_of(105);
  EXPECT_EQ(summary_of(150).find(note), std::string::npos) << summary_of(150);
}

TEST(TaskComparison, HasTheChangeThatIsJudged) {
  const Floats truth = {1, 2, 3, 6}, baseline = {1, 3, 3, 5}, candidate = {1, 3, 3, 4};
  const TaskComparison c =
      compare({baseline, 1}, {candidate, 1}, {.task = Task::regression, .targets = truth});
  EXPECT_DOUBLE_EQ(c.change.change, -3 / 14.0);
  EXPECT_EQ(c.mean_shift, 0.25);
  EXPECT_FALSE(c.counted);
  // Σ (p - 3)² = 8, Σ (c - p)² = 1
  EXPECT_DOUBLE_EQ(c.snr_db, 10 * std::log10(8));
  EXPECT_EQ(
      compare({baseline, 1}, {baseline, 1}, {.task = Task::regression, .targets = truth}).snr_db,
      HUGE_VAL);
}

// By hand: u = ((1 - R²) d² - e²) / SST with e² = 0, 1, 0, 1, d² = 4, 1, 0, 9, SST = 14, R² = 6/7; K = 2.
TEST(RatioInterval, OfR2FollowsTheFormula) {
  const Floats numbers = {1, 3, 3, 5}, truth = {1, 2, 3, 6};
  const RegressionEvaluation e = evaluate_regression({numbers, 1}, truth);
  double squares = 0;
  for (const double u : {4 / 7.0, 1 / 7.0 - 1, 0.0, 9 / 7.0 - 1}) squares += u * u / (14 * 14);
  const double half =
      student_975(3) * std::sqrt(4.0 / 3 * squares * (1 + kNormal975 * kNormal975 / 2));
  EXPECT_NEAR(e.r2_interval.low, 6 / 7.0 - half, 1e-12);
  EXPECT_NEAR(e.r2_interval.high, std::min(1.0, 6 / 7.0 + half), 1e-12);
}

// A perfect score does not prove that errors are impossible.
TEST(RatioInterval, HasAWidthWhereAllIsRight) {
  Floats truth, logits;
  for (int i = 0; i < 200; ++i) {
    truth.push_back(static_cast<float>(i % 2));
    logits.push_back(i % 2 == 0 ? -3.0f : 3.0f);
  }
  const MultiLabelEvaluation labels = evaluate_multi_label({logits, 1}, truth);
  EXPECT_EQ(labels.micro.f1, 1);
  EXPECT_EQ(labels.micro_f1_interval.high, 1);
  EXPECT_LT(labels.micro_f1_interval.low, 1 - 1.0 / 200);
  const RegressionEvaluation numbers = evaluate_regression({truth, 1}, truth);
  EXPECT_LT(numbers.r2_interval.low, 1 - 1.0 / 200);
}

TEST(RatioInterval, DoesNotGrowSurerByRepetition) {
  const Floats t = {1, 3, 4, 8, 2, 6}, p = {1, 2, 5, 6, 3, 7};
  Floats tt = t, pp = p;
  tt.insert(tt.end(), t.begin(), t.end());
  pp.insert(pp.end(), p.begin(), p.end());
  const std::vector<std::int32_t> texts = {0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5};
  EXPECT_NEAR(evaluate_regression({pp, 1}, tt, texts).r2_interval.low,
              evaluate_regression({p, 1}, t).r2_interval.low, 1e-12);
}

TEST(TaskEvaluation, SaysThatTheIntervalOfAFewTextsMayBeTooNarrow) {
  const Floats truth = {0, 1, 2, 3}, given = {0.1f, 0.9f, 2.1f, 2.9f};
  const Truth numbers{.task = Task::regression, .targets = truth};
  EXPECT_EQ(
      concerns(evaluate({given, 1}, numbers), {"stars"}),
      std::vector<std::string>(
          {"the 95% interval of R² rests on 4 examples: with fewer than 10 it can be too narrow"}));
  // Three copies of each example count as the four examples they are.
  Floats twelve, twelve_given;
  std::vector<std::int32_t> texts;
  for (int i = 0; i < 12; ++i) {
    twelve.push_back(truth[i % 4]);
    twelve_given.push_back(given[i % 4]);
    texts.push_back(i % 4);
  }
  const Truth copies{.task = Task::regression, .targets = twelve, .texts = texts};
  EXPECT_EQ(concerns(evaluate({twelve_given, 1}, copies), {"stars"}).size(), 1u);
  const Truth distinct{.task = Task::regression, .targets = twelve};
  EXPECT_TRUE(concerns(evaluate({twelve_given, 1}, distinct), {"stars"}).empty());
}

/// Returns the share of 500 datasets of `count` examples whose interval covers the true value.
template <typename Draw>
double coverage(std::int64_t count, double truth, const Draw& interval_of) {
  RandomSequence random(11, stream_of("figures"));
  int covered = 0;
  for (int draw = 0; draw < 500; ++draw) {
    const Interval interval = interval_of(random, count);
    covered += interval.low <= truth && truth <= interval.high;
  }
  return covered / 500.0;
}

// y ~ N(0, 1), predictions 0.8 y + 0.5 e: R² = 1 - (0.2² + 0.5²). 500 draws estimate a coverage of 95% to within one
// point.
TEST(LongRatioInterval, OfR2CoversTheTrueOneNineteenTimesOfTwenty) {
  const auto interval_of = [](RandomSequence& random, std::int64_t count) {
    Floats truth, given;
    for (std::int64_t i = 0; i < count; ++i) {
      const double y = random.normal();
      truth.push_back(static_cast<float>(y));
      given.push_back(static_cast<float>(0.8 * y + 0.5 * random.normal()));
    }
    return evaluate_regression({given, 1}, truth).r2_interval;
  };
  for (const std::int64_t count : {10, 100, 1000}) {
    const double share = coverage(count, 1 - 0.04 - 0.25, interval_of);
    EXPECT_GE(share, 0.92) << count;
    if (count < 100) continue;  // the interval may be too wide for fewer
    EXPECT_LE(share, 0.98) << count;
  }
}

// Each of three labels has a share of 30%, and 90% of the predictions are right. Of the 0.3 with a label 0.27 are
// found, and 0.07 of the others are predicted wrongly, so F1 = 2 * 0.27 / (0.3 + 0.34).
TEST(LongRatioInterval, OfMicroF1CoversTheTrueOneNineteenTimesOfTwenty) {
  const auto interval_of = [](RandomSequence& random, std::int64_t count) {
    Floats truth, logits;
    for (std::int64_t i = 0; i < 3 * count; ++i) {
      const bool has = random.uniform() < 0.3, right = random.uniform() < 0.9;
      truth.push_back(has ? 1 : 0);
      logits.push_back(has == right ? 1.0f : -1.0f);
    }
    return evaluate_multi_label({logits, 3}, truth).micro_f1_interval;
  };
  for (const std::int64_t count : {10, 100, 1000}) {
    const double share = coverage(count, 2 * 0.27 / (0.3 + 0.34), interval_of);
    EXPECT_GE(share, 0.92) << count;
    if (count < 100) continue;  // the interval may be too wide for fewer
    EXPECT_LE(share, 0.98) << count;
  }
}

}  // namespace
}  // namespace hone
