#include "hone/study/learning_check.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

// Evaluates a model on `examples` texts, `positives` of which have class 1. It predicts the first `right` texts
// correctly and `said` for the others.
TaskEvaluation judged(int examples, int positives, int said, int right) {
  std::vector<float> logits;
  std::vector<std::int32_t> labels;
  for (int i = 0; i < examples; ++i) {
    labels.push_back(i < positives ? 1 : 0);
    const bool one = (i < right ? labels.back() : said) == 1;
    logits.insert(logits.end(), {one ? 0.0f : 1.0f, one ? 1.0f : 0.0f});
  }
  return evaluate({logits, 2}, {.classes = labels});
}

std::vector<StepRecord> steps_with_losses(const std::vector<double>& losses) {
  std::vector<StepRecord> steps;
  for (const double loss : losses) steps.push_back({.loss = loss});
  return steps;
}

std::vector<std::string> signs(const std::vector<double>& losses, const TaskEvaluation& e) {
  return signs_of_no_learning(steps_with_losses(losses), "test", e, {"bad", "good"});
}

std::vector<double> falling() {
  std::vector<double> losses;
  for (int i = 0; i < 20; ++i) losses.push_back(1 - 0.01 * i);
  return losses;
}

TEST(SignsOfNoLearning, AreNoneWhereAccuracyIsAboveTheMajority) {
  EXPECT_TRUE(signs(falling(), judged(100, 50, 1, 90)).empty());
}

TEST(SignsOfNoLearning, SayThatTheMajorityIsAsGood) {
  const std::vector<std::string> found = signs(falling(), judged(100, 60, 1, 0));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(
      found[0],
      "test: the accuracy does not show that the model has learned: 60.0% (95% CI 50.2 to 69.1), "
      "n = 100; always predicting 'good' scores 60.0%");
}

TEST(SignsOfNoLearning, SayThatARareClassIsRankedAllTheSame) {
  // 4 of 100 are of the rare class. All are predicted as the frequent one, but the scores separate them.
  std::vector<float> logits;
  std::vector<std::int32_t> labels;
  for (int i = 0; i < 100; ++i) {
    labels.push_back(i < 4 ? 1 : 0);
    logits.insert(logits.end(), {1.0f, i < 4 ? 0.5f : 0.0f});
  }
  const std::vector<std::string> found =
      signs(falling(), evaluate({logits, 2}, {.classes = labels}));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_NE(found[0].find("ranks the classes better than chance (AUC 1.000, "), std::string::npos)
      << found[0];
}

TEST(SignsOfNoLearning, AreNoneWhereThereIsOneClassAlone) {
  EXPECT_TRUE(signs(falling(), judged(100, 100, 1, 100)).empty());
}

TEST(SignsOfNoLearning, SayThatTheLossDidNotFall) {
  const TaskEvaluation good = judged(100, 50, 1, 90);
  const std::vector<std::string> found = signs(std::vector<double>(20, 0.693), good);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_TRUE(
      found[0].starts_with("the training loss did not fall: 0.6930 over the first 5 of 20 "
                           "steps, 0.6930 over the last 5"))
      << found[0];
  EXPECT_TRUE(signs(std::vector<double>(9, 0.693), good).empty()) << "nine steps tell nothing";
  std::vector<double> last_is_high = falling();
  last_is_high.resize(10);
  last_is_high.back() = 1.01;
  EXPECT_TRUE(signs(last_is_high, good).empty()) << "a single batch tells nothing";
}

TEST(SignsOfNoLearning, NameColumnsThatWereGuessed) {
  const std::string guessed = "the label column was guessed: stars";
  const auto found = signs_of_no_learning(steps_with_losses(std::vector<double>(20, 0.693)), "test",
                                          judged(100, 60, 1, 0), {"bad", "good"}, guessed);
  ASSERT_EQ(found.size(), 2u);
  for (const std::string& sign : found) EXPECT_TRUE(sign.ends_with("; " + guessed)) << sign;
  EXPECT_EQ(found[1].find("learning rate"), std::string::npos) << found[1];
}

TEST(SignsOfNoLearning, AreThoseOfTheTasksFigure) {
  std::vector<float> truth, mean;
  for (int i = 0; i < 40; ++i) {
    truth.push_back(static_cast<float>(i % 4));
    mean.push_back(1.5f + 0.001f * static_cast<float>(i % 7));
  }
  const auto found = signs_of_no_learning(
      steps_with_losses(falling()), "test",
      evaluate({mean, 1}, {.task = Task::regression, .targets = truth}), {"stars"});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_TRUE(found[0].starts_with("test: the R² does not show that the model has learned: "))
      << found[0];
  EXPECT_TRUE(found[0].ends_with(", n = 40; always predicting the mean scores 0.0%")) << found[0];
  EXPECT_TRUE(signs_of_no_learning(
                  steps_with_losses(falling()), "test",
                  evaluate({truth, 1}, {.task = Task::regression, .targets = truth}), {"stars"})
                  .empty());
}

}  // namespace
}  // namespace hone
