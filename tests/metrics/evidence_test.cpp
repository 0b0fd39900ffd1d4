#include "hone/metrics/evidence.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "hone/metrics/comparison.h"

namespace hone {
namespace {

using Texts = std::vector<std::int32_t>;

TEST(Evidence, IsOneWhereAllDiffer) {
  EXPECT_EQ(evidence({}), 1);
  EXPECT_EQ(evidence(Texts{3, 0, 1, 2}), 1);
}

TEST(Evidence, OfRepetitionsIsThatOfTheDifferentOnes) {
  EXPECT_EQ(evidence(Texts{0, 1, 0, 1, 0, 1}), 1.0 / 3);
  EXPECT_EQ(evidence(Texts{0, 0, 0, 0}), 1.0 / 4);
  // If one text dominates, little evidence remains: 8² / (5² + 3) = 2.3.
  EXPECT_EQ(effective_examples(8, evidence(Texts{0, 0, 0, 0, 0, 1, 2, 3})), 2);
}

TEST(Evidence, IsSaidWhereItIsLess) {
  EXPECT_EQ(sample_size_text(1072, 1072), "n = 1,072");
  EXPECT_EQ(sample_size_text(1072, 850), "n = 1,072 (effective 850)");
  EXPECT_EQ(sample_size_text(300, 285), "n = 300") << "5% less";
  EXPECT_EQ(sample_size_text(300, 284), "n = 300 (effective 284)");
}

TEST(Evidence, OfAPartIsSaidWithWhatFlattersIt) {
  EXPECT_EQ(split_text("validation", 1072, 1072), "validation, n = 1,072");
  const std::vector<std::string> cautions = {"80 trained on", "all chosen on"};
  EXPECT_EQ(split_text("test", 400, 300, cautions),
            "test, n = 400 (effective 300), 80 trained on, all chosen on");
}

/// Returns logits of two classes. The sign of each number is the predicted class.
std::vector<float> logits_of(const std::vector<float>& signs) {
  std::vector<float> logits;
  for (const float sign : signs) logits.insert(logits.end(), {0, sign});
  return logits;
}

// Repeating every row three times keeps accuracies, intervals and p-values.
TEST(Evidence, OfThreeCopiesGivesTheIntervalsOfOne) {
  const std::vector<float> baseline = {1, 1, 1, -1, -1, 1, -1, 1, 1, 1},
                           candidate = {1, -1, -1, -1, 1, 1, -1, -1, -1, -1};
  const std::vector<std::int32_t> labels = {1, 1, 1, 0, 0, 0, 1, 1, 1, 1};
  std::vector<float> parents, candidates;
  std::vector<std::int32_t> truths;
  Texts texts;
  for (int copy = 0; copy < 3; ++copy) {
    parents.insert(parents.end(), baseline.begin(), baseline.end());
    candidates.insert(candidates.end(), candidate.begin(), candidate.end());
    truths.insert(truths.end(), labels.begin(), labels.end());
    for (std::int32_t text = 0; text < 10; ++text) texts.push_back(text);
  }
  const std::vector<float> before = logits_of(baseline), after = logits_of(candidate),
                           befores = logits_of(parents), afters = logits_of(candidates);
  const Comparison once = compare({before, 2}, {after, 2}, labels),
                   thrice = compare({befores, 2}, {afters, 2}, truths, texts),
                   naive = compare({befores, 2}, {afters, 2}, truths);
  EXPECT_EQ(thrice.only_baseline, 3 * once.only_baseline);
  EXPECT_EQ(thrice.mcnemar_p, once.mcnemar_p);
  EXPECT_LT(naive.mcnemar_p, once.mcnemar_p);
  EXPECT_NEAR(thrice.flip_interval.low, once.flip_interval.low, 1e-15);
  EXPECT_NEAR(accuracy_change_interval(thrice).low, accuracy_change_interval(once).low, 1e-12);
  EXPECT_GT(accuracy_change_interval(naive).low, accuracy_change_interval(once).low + 0.01);

  const Evaluation one = evaluate({after, 2}, labels), three = evaluate({afters, 2}, truths, texts);
  EXPECT_EQ(three.accuracy, one.accuracy);
  EXPECT_EQ(three.examples, 30);
  EXPECT_NEAR(three.accuracy_interval.high, one.accuracy_interval.high, 1e-15);
  EXPECT_NEAR(three.auc.interval.low, one.auc.interval.low, 1e-12);
}

}  // namespace
}  // namespace hone
