#include "hone/study/class_table.h"

#include <gtest/gtest.h>

#include "hone/base/text.h"
#include "hone/study/measure.h"

namespace hone {
namespace {

TEST(ClassText, FitsTheTerminal) {
  const std::vector<float> logits = {2, 1, 1, 2, 3, 0};
  const std::vector<std::int32_t> labels = {0, 1, 1};
  const Evaluation evaluation = evaluate({logits, 2}, labels);
  for (const std::size_t columns : {std::size_t{40}, std::size_t{80}}) {
    const std::string text =
        class_text({{"test", evaluation}}, {"negative", "positive"}, {.columns = columns});
    for (const char* word : {"Test, n = 3:", "taken for", "macro mean", "AUC of positive: "})
      EXPECT_NE(text.find(word), std::string::npos) << word << "\n" << text;
    for (const std::string& line : split(text, '\n'))
      EXPECT_LE(display_width(line), columns) << text;
  }
}

TEST(ClassText, SaysWhatItIsToBeReadWith) {
  const std::vector<float> logits = {2, 1, 1, 2, 3, 0};
  const std::vector<std::int32_t> labels = {0, 1, 1};
  const std::string text = class_text(
      {{"after, test", evaluate({logits, 2}, labels), {"2 trained on"}}}, {"a", "b"}, {});
  EXPECT_TRUE(text.starts_with("After, test, n = 3, 2 trained on:\n")) << text;
}

// One seed each that finds so many of two texts of the first class, and both of the second.
std::vector<Json> seeds_that_find(const std::vector<int>& found) {
  std::vector<Json> results;
  for (const int right : found) {
    Measurement measured{.logits = {}, .classes = 2, .evaluation = {}, .seconds = 1};
    for (int text = 0; text < 4; ++text) {
      const bool first = text < right;
      measured.logits.insert(measured.logits.end(), {first ? 1.0f : 0.0f, first ? 0.0f : 1.0f});
    }
    measured.evaluation = evaluate(measured.view(), std::vector<std::int32_t>{0, 0, 1, 1});
    results.push_back({{"seed", 42}, {"test", to_json(measured, {"negative", "positive"})}});
  }
  return results;
}

// Read by rows and by columns: a class that nothing is taken for keeps its column.
TEST(ClassText, HasASquareConfusionMatrix) {
  const std::vector<float> logits = {3, 0, 0, 3, 0, 0, 3, 0, 0};
  const Evaluation e = evaluate({logits, 3}, std::vector<std::int32_t>{0, 1, 2});
  const std::string text = class_text({{"test", e}}, {"a", "b", "c"}, {});
  EXPECT_NE(text.find("Texts of  taken for a  taken for b  taken for c\n"), std::string::npos)
      << text;
}

TEST(ClassText, HasTheMeansOfManyClasses) {
  std::vector<float> logits;
  std::vector<std::int32_t> truth;
  std::vector<std::string> labels;
  for (int c = 0; c < 13; ++c) {
    labels.push_back(fmt::format("class {}", c));
    truth.push_back(c);
    for (int i = 0; i < 13; ++i) logits.push_back(i == c ? 1.0f : 0.0f);
  }
  const std::string text = class_text({{"test", evaluate({logits, 13}, truth)}}, labels, {});
  EXPECT_NE(text.find("weighted mean"), std::string::npos) << text;
  EXPECT_EQ(text.find("class 7"), std::string::npos) << text;
}

TEST(ClassTable, HasTheMeansBelowTheClasses) {
  const std::vector<float> logits = {2, 1, 2, 1, 2, 1, 1, 2};
  const Evaluation e = evaluate({logits, 2}, std::vector<std::int32_t>{0, 0, 1, 1});
  const Table table = class_table(e, {"bad", "good"});
  ASSERT_EQ(table.rows().size(), 4u);
  EXPECT_EQ(display_text(table.rows()[2][0]), "macro mean");
  EXPECT_EQ(display_text(table.rows()[2][1]), "–");
  EXPECT_EQ(display_text(table.rows()[2][3]), "75.0 %");
  EXPECT_EQ(display_text(table.rows()[3][4]), display_text(percent(e.weighted.f1)));
}

TEST(ClassTableOfSeeds, HasTheValuesOfAFewAndTheMeanOfMore) {
  const Table few = class_table_of_seeds(seeds_that_find({1, 2}), "test");
  ASSERT_EQ(few.rows().size(), 4u);
  EXPECT_EQ(display_text(few.rows()[0][1]), "2");
  EXPECT_EQ(display_text(few.rows()[0][3]), "50.0, 100.0 %");
  EXPECT_EQ(display_text(few.rows()[2][0]), "macro mean");
  EXPECT_EQ(display_text(few.rows()[2][3]), "75.0, 100.0 %");
  const Table confusion = confusion_table_of_seeds(seeds_that_find({1, 2}), "test");
  EXPECT_EQ(display_text(confusion.rows()[0][1]), "1, 2") << "taken for the first class";
  EXPECT_EQ(display_text(confusion.rows()[0][2]), "1, 0");
  const std::vector<Json> five = seeds_that_find({1, 2, 1, 2, 1});
  const Table means = confusion_table_of_seeds(five, "test");
  EXPECT_EQ(display_text(means.rows()[0][1]), "1.4") << "on average";
  const Json rows = to_json(class_table_of_seeds(five, "test"));
  EXPECT_EQ(rows[0]["recall"], 0.7);
  EXPECT_LT(rows[0]["recall_interval"][0], 0.7);
  EXPECT_GT(rows[0]["recall_interval"][1], 0.7);
  // All the same: no interval.
  EXPECT_EQ(rows[1]["recall"], 1);
  EXPECT_TRUE(rows[1]["recall_interval"].is_null()) << rows[1];
}

// A class that a seed never predicts has no precision there, as with one seed, and so no mean.
TEST(ClassTableOfSeeds, DefinesNoPrecisionOfWhatWasNeverPredicted) {
  const Table few = class_table_of_seeds(seeds_that_find({1, 0}), "test");
  EXPECT_EQ(display_text(few.rows()[0][2]), "100.0, – %");
  const Table none = class_table_of_seeds(seeds_that_find({0, 0}), "test");
  EXPECT_EQ(display_text(none.rows()[0][2]), "–");
  const Table five = class_table_of_seeds(seeds_that_find({1, 2, 1, 2, 0}), "test");
  EXPECT_EQ(display_text(five.rows()[0][2]), "–");
  EXPECT_NE(display_text(five.rows()[0][3]), "–");
}

TEST(ClassTextOfSeeds, SaysWhatItIsOf) {
  const std::vector<NamedFigures> figures = {{"validation", "validation"}, {"test", "after, test"}};
  const std::string few = class_text_of_seeds(seeds_that_find({1, 2}), figures, {});
  EXPECT_TRUE(few.starts_with("After, test, n = 4: each of 2 seeds:\n")) << few;
  EXPECT_NE(few.find("AUC of positive: 0.750, 1.000 with 2 seeds.\n"), std::string::npos) << few;
  EXPECT_TRUE(class_text_of_seeds(seeds_that_find({1, 2, 1, 2, 0}), figures, {})
                  .starts_with("After, test, n = 4: mean of 5 seeds (95 %"));
  EXPECT_TRUE(class_section_of_seeds(seeds_that_find({1, 2}), {figures[0]}).blocks.empty());
  EXPECT_TRUE(
      class_text_of_seeds(seeds_that_find({1, 2}), {{"test", "after, test", {"2 trained on"}}}, {})
          .starts_with("After, test, n = 4, 2 trained on: each of 2 seeds:\n"));
}

}  // namespace
}  // namespace hone
