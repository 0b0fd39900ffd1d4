#include "hone/study/class_table.h"

#include <gtest/gtest.h>

#include "tests/study/seeds_that_find.h"

namespace hone {
namespace {

using testing::seeds_that_find;

TEST(ClassTable, HasTheMeansBelowTheClasses) {
  const std::vector<float> logits = {2, 1, 2, 1, 2, 1, 1, 2};
  const Evaluation e = evaluate({logits, 2}, std::vector<std::int32_t>{0, 0, 1, 1});
  const Table table = class_table(e, {"bad", "good"});
  ASSERT_EQ(table.rows().size(), 4u);
  EXPECT_EQ(display_text(table.rows()[2][0]), "macro mean");
  EXPECT_EQ(display_text(table.rows()[2][1]), "–");
  EXPECT_EQ(display_text(table.rows()[2][3]), "75.0%");
  EXPECT_EQ(display_text(table.rows()[3][4]), display_text(percent(e.weighted.f1)));
}

TEST(ClassTableOfSeeds, HasTheValuesOfAFewAndTheMeanOfMore) {
  const Table few = class_table_of_seeds(seeds_that_find({1, 2}), "test");
  ASSERT_EQ(few.rows().size(), 4u);
  EXPECT_EQ(display_text(few.rows()[0][1]), "2");
  EXPECT_EQ(display_text(few.rows()[0][3]), "50.0, 100.0%");
  EXPECT_EQ(display_text(few.rows()[2][0]), "macro mean");
  EXPECT_EQ(display_text(few.rows()[2][3]), "75.0, 100.0%");
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
  // All seeds have the same recall, so there is no interval.
  EXPECT_EQ(rows[1]["recall"], 1);
  EXPECT_TRUE(rows[1]["recall_interval"].is_null()) << rows[1];
}

// With a seed that never predicts the class, its precision is undefined, and so is the mean.
TEST(ClassTableOfSeeds, DefinesNoPrecisionOfWhatWasNeverPredicted) {
  const Table few = class_table_of_seeds(seeds_that_find({1, 0}), "test");
  EXPECT_EQ(display_text(few.rows()[0][2]), "100.0, –%");
  const Table none = class_table_of_seeds(seeds_that_find({0, 0}), "test");
  EXPECT_EQ(display_text(none.rows()[0][2]), "–");
  const Table five = class_table_of_seeds(seeds_that_find({1, 2, 1, 2, 0}), "test");
  EXPECT_EQ(display_text(five.rows()[0][2]), "–");
  EXPECT_NE(display_text(five.rows()[0][3]), "–");
}

}  // namespace
}  // namespace hone
