#include "hone/study/seeds.h"

#include <gtest/gtest.h>

#include <cmath>

namespace hone {
namespace {

std::vector<Json> results_with(const std::vector<double>& accuracies) {
  std::vector<Json> results;
  for (const double accuracy : accuracies)
    results.push_back({{"seed", 42 + results.size()},
                       {"test",
                        {{"eval_metric", "accuracy"},
                         {"eval_accuracy", accuracy},
                         {"eval_accuracy_interval", {accuracy - 0.01, accuracy + 0.01}},
                         {"eval_loss", 0.5},
                         {"eval_samples", 1000},
                         {"eval_effective_samples", 1000}}}});
  return results;
}

const std::vector<MetricsKey> kParts = {{"validation", "validation"}, {"test", "test"}};
const std::vector<MetricsKey> kSides = {{"before", "before, test"}, {"after", "after, test"}};

std::string sentence(const std::vector<double>& accuracies) {
  return seed_sentence(metric_spread(results_with(accuracies), "test"));
}

TEST(SeedSentence, ShowsFewSeedsAsTheyAre) {
  EXPECT_EQ(sentence({0.5}), "50.0% with one seed");
  EXPECT_EQ(sentence({0.44, 0.56}), "44.0, 56.0% with 2 seeds; a spread needs at least 5");
  EXPECT_EQ(sentence({0.5132, 0.5132, 0.5132, 0.5132, 0.5132}), "51.3% with each of 5 seeds");
  EXPECT_TRUE(
      sentence({0.80, 0.82, 0.84, 0.82, 0.82})
          .starts_with("82.0% on average over 5 seeds (95% for other seeds on the same texts: 80."))
      << sentence({0.80, 0.82, 0.84, 0.82, 0.82});
}

TEST(SeedTable, HasARowForEachSeedAndNoneBeside) {
  const Table table = seed_table(results_with({0.5, 0.6}), kParts);
  const Json rows = to_json(table);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[1]["test_accuracy"], 0.6);
  EXPECT_EQ(rows[1]["test_accuracy_interval"][1], 0.61);
  EXPECT_FALSE(rows[1].contains("validation_accuracy"));
}

TEST(SeedFigure, HasADotForEachSeedAndMarksTheMean) {
  const Figure figure = seed_figure(results_with({0.5, 0.6, 0.7}), kParts, "title");
  const Panel& panel = figure.panels.at(0);
  ASSERT_EQ(panel.x.ticks.size(), 1u) << "there is no validation part";
  EXPECT_EQ(panel.x.ticks[0].label, "test, n = 1,000");
  ASSERT_EQ(panel.series.size(), 2u);
  ASSERT_EQ(panel.series[0].points.size(), 3u);
  EXPECT_EQ(panel.series[0].points[1].y, 60);
  EXPECT_EQ(panel.series[0].points[1].name, "seed 43, test");
  EXPECT_EQ(panel.series[1].label, "mean");
  EXPECT_DOUBLE_EQ(panel.series[1].points.at(0).y, 60);
  EXPECT_TRUE(std::isnan(panel.series[1].points[0].low)) << "three seeds tell no interval";
}

TEST(SeedFigure, HasAnIntervalFromFiveSeedsOn) {
  const Figure figure =
      seed_figure(results_with({0.5, 0.6, 0.7, 0.6, 0.6}), {{"test", "test"}}, "title");
  const Series& mean = figure.panels.at(0).series.at(1);
  EXPECT_EQ(mean.label, "mean, with its 95% interval");
  EXPECT_LT(mean.points.at(0).low, 60);
  EXPECT_GT(mean.points.at(0).high, 60);
  const Figure same =
      seed_figure(results_with({0.5, 0.5, 0.5, 0.5, 0.5}), {{"test", "test"}}, "title");
  EXPECT_EQ(same.panels.at(0).series.at(1).label, "mean") << "and none where all are the same";
}

TEST(SeedFigure, DrawsTheModelThatAllSeedsShareOnce) {
  std::vector<Json> results = results_with({0.5, 0.6, 0.7});
  for (Json& result : results) {
    result["after"] = result["test"];
    result["before"] = results[2]["test"];
  }
  const Panel panel = seed_figure(results, kSides, "title").panels.at(0);
  ASSERT_EQ(panel.references.size(), 1u);
  EXPECT_EQ(panel.references[0].label, "before, one model for all seeds: 70.0%");
  EXPECT_DOUBLE_EQ(panel.references[0].y, 70);
  ASSERT_EQ(panel.x.ticks.size(), 1u);
  EXPECT_EQ(panel.x.ticks[0].label, "after, test, n = 1,000");
  EXPECT_EQ(panel.series.at(0).points.size(), 3u);
  EXPECT_EQ(panel.series.at(1).points.size(), 1u);
  // Seeds with equal results by chance are not taken for a single model.
  const Panel alike =
      seed_figure(results_with({0.5, 0.5}), {{"test", "test"}}, "title").panels.at(0);
  EXPECT_TRUE(alike.references.empty());
  EXPECT_EQ(alike.series.at(0).points.size(), 2u);
}

// If ten seeds fail in the same way, there is one sentence.
TEST(SeedConcerns, AreOneSentenceForAllSeedsOfWhichTheySpeak) {
  std::vector<Json> results = results_with({0.5, 0.5, 0.6, 0.5});
  for (const std::size_t i : {0, 1, 3}) results[i]["test"]["eval_only_predicts"] = "good";
  results[2]["test"]["eval_classes"] = {{"bad", {{"support", 3}, {"predicted", 0}}},
                                        {"good", {{"support", 3}, {"predicted", 6}}}};
  EXPECT_EQ(seed_concerns(results, kParts),
            (std::vector<std::string>{
                "test: the model predicts one class only, 'good', with 3 of 4 seeds (42, 43, 45)",
                "test: the model never predicts 'bad' with 1 of 4 seeds (44)"}));
  results[2]["test"]["eval_only_predicts"] = "good";
  EXPECT_EQ(seed_concerns(results, kParts),
            (std::vector<std::string>{
                "test: the model predicts one class only, 'good', with each of 4 seeds"}));
}

TEST(SeedSpreadJson, IsNullWhereFewSeedsTellNone) {
  const Json few = to_json(metric_spread(results_with({0.5, 0.6}), "test"));
  EXPECT_EQ(few["mean"], 0.55);
  EXPECT_TRUE(few.at("mean_interval").is_null());
  EXPECT_TRUE(few.at("standard_deviation").is_null());
}

}  // namespace
}  // namespace hone
