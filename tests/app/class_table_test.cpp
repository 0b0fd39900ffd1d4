#include "hone/app/class_table.h"

#include <gtest/gtest.h>

#include "hone/app/measure.h"
#include "hone/base/text.h"

namespace hone {
namespace {

TEST(ClassText, FitsTheTerminal) {
  const std::vector<float> logits = {2, 1, 1, 2, 3, 0};
  const std::vector<std::int32_t> labels = {0, 1, 1};
  const Evaluation evaluation = evaluate({logits, 2}, labels);
  for (const std::size_t columns : {std::size_t{40}, std::size_t{80}}) {
    const std::string text =
        class_text({{"test", evaluation}}, {"negative", "positive"}, {.columns = columns});
    EXPECT_NE(text.find("taken for"), std::string::npos) << text;
    for (const std::string& line : split(text, '\n'))
      EXPECT_LE(display_width(line), columns) << text;
  }
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

TEST(ClassTableOfSeeds, HasTheValuesOfAFewAndTheMeanOfMore) {
  const Table few = class_table_of_seeds(seeds_that_find({1, 2}), "test");
  ASSERT_EQ(few.rows().size(), 2u);
  EXPECT_EQ(display_text(few.rows()[0][1]), "2");
  EXPECT_EQ(display_text(few.rows()[0][3]), "50.0, 100.0 %");
  EXPECT_EQ(display_text(few.rows()[0][5]), "1.5") << "taken for the first class on average";
  EXPECT_EQ(display_text(few.rows()[0][6]), "0.5");
  EXPECT_EQ(
      class_table_of_seeds(seeds_that_find({1, 2}), "test", /*confusion=*/false).columns().size(),
      5u);
  const std::vector<Json> five = seeds_that_find({1, 2, 1, 2, 0});
  const Json rows = to_json(class_table_of_seeds(five, "test"));
  EXPECT_EQ(rows[0]["recall"], 0.6);
  EXPECT_LT(rows[0]["recall_interval"][0], 0.6);
  EXPECT_GT(rows[0]["recall_interval"][1], 0.6);
  // 1, 1, 1, 1 and 0/0, which counts as 0.
  EXPECT_EQ(rows[0]["precision"], 0.8);
  // All the same: no interval.
  EXPECT_EQ(rows[1]["recall"], 1);
  EXPECT_TRUE(rows[1]["recall_interval"].is_null()) << rows[1];
}

TEST(ClassTextOfSeeds, SaysWhatItIsOf) {
  EXPECT_TRUE(class_text_of_seeds(seeds_that_find({1, 2}), {"validation", "test"}, {})
                  .starts_with("test, n = 4: each of 2 seeds:\n"));
  EXPECT_TRUE(class_text_of_seeds(seeds_that_find({1, 2, 1, 2, 0}), {"validation", "test"}, {})
                  .starts_with("test, n = 4: mean of 5 seeds (95 %"));
  EXPECT_TRUE(class_section_of_seeds(seeds_that_find({1, 2}), {"validation"}).blocks.empty());
}

}  // namespace
}  // namespace hone
