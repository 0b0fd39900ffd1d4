#include "hone/study/evaluation_details.h"

#include <gtest/gtest.h>

#include "hone/study/measure.h"
#include "tests/study/seeds_that_find.h"

namespace hone {
namespace {

using testing::seeds_that_find;

std::string unfolded(Section section, const TextStyle& style = {}) {
  section.folded = false;
  return to_text({.sections = {std::move(section)}}, style);
}

TEST(Details, HaveClassesConfusionAndAuc) {
  const std::vector<float> logits = {2, 1, 1, 2, 3, 0};
  const std::vector<std::int32_t> labels = {0, 1, 1};
  const TaskEvaluation evaluation = evaluate({logits, 2}, {.classes = labels});
  const std::string text =
      unfolded(details_section({{"test", evaluation}}, {"negative", "positive"}));
  for (const char* word : {"Test, n = 3", "predicted as", "macro mean", "AUC of positive: "})
    EXPECT_NE(text.find(word), std::string::npos) << word << "\n" << text;
}

TEST(Details, SaysWhatItIsToBeReadWith) {
  const std::vector<float> logits = {2, 1, 1, 2, 3, 0};
  const std::vector<std::int32_t> labels = {0, 1, 1};
  const std::string text = unfolded(details_section(
      {{"after, test", evaluate({logits, 2}, {.classes = labels}), {"2 trained on"}}}, {"a", "b"}));
  EXPECT_NE(text.find("After, test, n = 3, 2 trained on\n"), std::string::npos) << text;
}

// The matrix keeps the column of a class that is never predicted.
TEST(Details, HasASquareConfusionMatrix) {
  const std::vector<float> logits = {3, 0, 0, 3, 0, 0, 3, 0, 0};
  const std::vector<std::int32_t> truth = {0, 1, 2};
  const TaskEvaluation e = evaluate({logits, 3}, {.classes = truth});
  const std::string text = unfolded(details_section({{"test", e}}, {"a", "b", "c"}));
  EXPECT_NE(text.find("Examples of  predicted as a  predicted as b  predicted as c\n"),
            std::string::npos)
      << text;
}

TEST(Details, HasTheMeansOfManyClasses) {
  std::vector<float> logits;
  std::vector<std::int32_t> truth;
  std::vector<std::string> labels;
  for (int c = 0; c < 13; ++c) {
    labels.push_back(fmt::format("class {}", c));
    truth.push_back(c);
    for (int i = 0; i < 13; ++i) logits.push_back(i == c ? 1.0f : 0.0f);
  }
  const std::string text =
      unfolded({"", {metrics_table({"test", evaluate({logits, 13}, {.classes = truth})}, labels)}});
  EXPECT_NE(text.find("weighted mean"), std::string::npos) << text;
  EXPECT_EQ(text.find("class 7"), std::string::npos) << text;
}

TEST(DetailsOfSeeds, SaysWhatItIsOf) {
  const std::vector<MetricsKey> figures = {{"validation", "validation"}, {"test", "after, test"}};
  const auto shows = [&](const std::vector<int>& found, const std::vector<MetricsKey>& of,
                         const char* words) {
    const std::string text = unfolded(details_section_of_seeds(seeds_that_find(found), of));
    return text.find(words) != std::string::npos;
  };
  EXPECT_TRUE(shows({1, 2}, figures, "After, test, n = 4: each of 2 seeds\n"));
  EXPECT_TRUE(shows({1, 2}, figures, "AUC of positive: 0.750, 1.000 with 2 seeds.\n"));
  EXPECT_TRUE(shows({1, 2, 1, 2, 0}, figures, "After, test, n = 4: mean of 5 seeds (95%"));
  EXPECT_TRUE(details_section_of_seeds(seeds_that_find({1, 2}), {figures[0]}).blocks.empty());
  EXPECT_TRUE(shows({1, 2}, {{"test", "after, test", {"2 trained on"}}},
                    "After, test, n = 4, 2 trained on: each of 2 seeds\n"));
}

TEST(Details, OfLabelsHaveTheirMeans) {
  const std::vector<float> logits = {1, -1, -1, 1, 1, 1}, truth = {1, 0, 0, 1, 1, 0};
  const TaskEvaluation e = evaluate({logits, 2}, {.task = Task::multi_label, .targets = truth});
  const std::string text = unfolded(details_section({{"test", e}}, {"rude", "threat"}));
  for (const char* words :
       {"Test, n = 3", "Label", "rude", "threat", "micro mean", "mean over texts"})
    EXPECT_NE(text.find(words), std::string::npos) << words << "\n" << text;
  EXPECT_EQ(text.find("predicted as"), std::string::npos) << "no confusion of labels\n" << text;
}

TEST(Details, OfNumbersHaveTheMeanBesideThem) {
  const std::vector<float> numbers = {1, 3, 3, 5}, truth = {1, 2, 3, 6};
  const TaskEvaluation e = evaluate({numbers, 1}, {.task = Task::regression, .targets = truth});
  const std::string text = unfolded(details_section({{"test", e}}, {"stars"}));
  EXPECT_NE(text.find("stars"), std::string::npos) << text;
  EXPECT_NE(text.find("0.7071  0.5000"), std::string::npos) << "RMSE and MAE\n" << text;
  EXPECT_NE(text.find("always the mean"), std::string::npos) << text;
  const std::string page = to_html(
      {.title = "t", .headline = "h", .sections = {details_section({{"test", e}}, {"stars"})}});
  EXPECT_NE(page.find("the share of the targets&#39; variance"), std::string::npos);
}

}  // namespace
}  // namespace hone
