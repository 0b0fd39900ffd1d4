#include "hone/app/seeds.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

std::vector<Json> results_with(const std::vector<double>& accuracies) {
  std::vector<Json> results;
  for (const double accuracy : accuracies)
    results.push_back({{"seed", 42 + results.size()},
                       {"test",
                        {{"eval_accuracy", accuracy},
                         {"eval_accuracy_interval", {accuracy - 0.01, accuracy + 0.01}},
                         {"eval_loss", 0.5},
                         {"eval_samples", 1000}}}});
  return results;
}

std::string sentence(const std::vector<double>& accuracies) {
  return seed_sentence(accuracy_spread(results_with(accuracies), "test"));
}

TEST(SeedSentence, ShowsFewSeedsAsTheyAre) {
  EXPECT_EQ(sentence({0.5}), "50.00 % with one seed");
  EXPECT_EQ(sentence({0.44, 0.56}), "44.00 to 56.00 % with 2 seeds; it takes 5 to tell a spread");
  EXPECT_EQ(sentence({0.5132, 0.5132, 0.5132, 0.5132, 0.5132}), "51.32 % with each of 5 seeds");
  EXPECT_TRUE(sentence({0.80, 0.82, 0.84, 0.82, 0.82})
                  .starts_with("82.00 % on average over 5 seeds (95 %: 80."))
      << sentence({0.80, 0.82, 0.84, 0.82, 0.82});
}

TEST(SeedTable, HasARowForEachSeedAndNoneBeside) {
  const Table table = seed_table(results_with({0.5, 0.6}), {"validation", "test"});
  const Json rows = to_json(table);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[1]["test_accuracy"], 0.6);
  EXPECT_EQ(rows[1]["test_accuracy_interval"][1], 0.61);
  EXPECT_FALSE(rows[1].contains("validation_accuracy"));
}

TEST(SeedSpreadJson, IsNullWhereFewSeedsTellNone) {
  const Json few = to_json(accuracy_spread(results_with({0.5, 0.6}), "test"));
  EXPECT_EQ(few["mean"], 0.55);
  EXPECT_TRUE(few.at("mean_interval").is_null());
  EXPECT_TRUE(few.at("standard_deviation").is_null());
}

}  // namespace
}  // namespace hone
