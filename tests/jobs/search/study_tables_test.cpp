#include "hone/jobs/search/study_tables.h"

#include <gtest/gtest.h>

#include "hone/jobs/search/study_comparison.h"

// Tests of the tables about studies.
namespace hone {
namespace {

Trial trial_of(std::int64_t number, double value) {
  return {.number = number, .state = TrialState::complete, .values = {value}};
}

TEST(StudyTables, CountTrialsFromOne) {
  const Trial trials[] = {trial_of(0, 0.5), trial_of(1, 0.75)};
  DescribedStudy study{.view = {.name = "search", .directions = {Direction::maximize}},
                       .objectives = {"accuracy"}};
  for (const Trial& trial : trials) study.view.trials.push_back(&trial);
  EXPECT_NE(headline_of(study).find("(trial 2)"), std::string::npos) << headline_of(study);
  const Table table = best_trials(study);
  EXPECT_EQ(table.columns()[0].key, "trial");
  EXPECT_EQ(display_text(table.rows()[0][0]), "2");
  EXPECT_EQ(numbers_of(study.view.trials), (std::vector<std::int64_t>{0, 1})) << "for programs";
}

TEST(StudyTables, BeginWithTheBaselineWhereItIsKnown) {
  const auto metrics = [](double latency) { return Json{{"latency_ms", latency}}; };
  Trial trial = trial_of(0, 0.75);
  trial.user_attributes[kMetricsAttribute] = metrics(0.5);
  const DescribedStudy study{
      .view = {.name = "search", .directions = {Direction::maximize}, .trials = {&trial}},
      .objectives = {"loss"},
      .baseline = {{"values", Json::array({nullptr})}, {"metrics", metrics(2)}}};
  const Table table = best_trials(study);
  ASSERT_EQ(table.rows().size(), 2U);
  EXPECT_EQ(display_text(table.rows()[0][0]), "baseline");
  EXPECT_EQ(display_text(table.rows()[0][1]), display_text(Cell(absent)));
  ASSERT_EQ(table.columns()[2].key, "latency_ms");
  EXPECT_NE(table.columns()[2].header.find("(ms)"), std::string::npos);
  EXPECT_EQ(display_text(table.rows()[0][2]), "2.00");
  EXPECT_EQ(display_text(table.rows()[1][2]), "0.500");
}

// Trial 2 repeats trial 0, and trial 3 repeats trial 2.
TEST(StudyTables, CountATrialThatWasRunAgainOnce) {
  Trial trials[] = {trial_of(0, 0), trial_of(1, 0.5), trial_of(2, 0), trial_of(3, 0.75)};
  for (const std::size_t i : {0, 2}) {
    trials[i].state = TrialState::fail;
    trials[i].values.clear();
  }
  trials[2].system_attributes = {{"failed_trial", 0}, {"retry_history", {0}}};
  trials[3].system_attributes = {{"failed_trial", 0}, {"retry_history", {0, 2}}};
  StudyView view{.name = "search", .directions = {Direction::maximize}};
  for (const Trial& trial : trials) view.trials.push_back(&trial);
  const TrialCounts counts = count_trials(view);
  EXPECT_EQ(counts.run_again, 2);
  EXPECT_EQ(counts.finished(), 2);
  EXPECT_EQ(counts.all(), 4) << "for programs";
  const std::string text = to_text(counts);
  for (const char* absent : {"failed", "stopped", "4 trials"})
    EXPECT_EQ(text.find(absent), std::string::npos) << text;
}

TEST(StudyTables, ShowTheMetricBesideAnObjectiveThatIsAFormula) {
  Trial trial = trial_of(0, 0.67);
  trial.user_attributes[kMetricsAttribute] = Json{{"accuracy", 0.75}};
  DescribedStudy study{
      .view = {.name = "search", .directions = {Direction::maximize}, .trials = {&trial}},
      .objectives = {"accuracy - 0.01*average_bits"},
      .measured_on = {{"text", "validation"}, {"n", 400}, {"effective_n", 400}}};
  const Table table = best_trials(study);
  ASSERT_EQ(table.columns()[2].key, "accuracy");
  const std::string accuracy = display_text(table.rows()[0][2]);
  EXPECT_TRUE(accuracy.starts_with("75.0")) << accuracy;
  EXPECT_GT(accuracy.size(), std::string("75.0%").size()) << "it has its interval";
  EXPECT_EQ(certainty_text(study).find("There are no"), std::string::npos);
  study.objectives = {"accuracy"};
  EXPECT_EQ(best_trials(study).columns()[2].key, "values") << "not twice";
}

TEST(StudyTables, CallTheFormatOfALayerInWords) {
  EXPECT_EQ(value_text("classifier.format", "none"), "full precision");
  EXPECT_EQ(value_text("classifier.format", "int"), "int");
  EXPECT_EQ(value_text("dropout", "none"), "none");
  EXPECT_EQ(value_text("training.learning_rate", 0.0003), "0.0003");
}

// Differences of accuracies are in points, those of losses are not.
TEST(StudyComparison, SaysHowNearInTheUnitOfTheObjective) {
  const Trial best = trial_of(0, 0.75);
  for (const auto& [objective, within] :
       {std::pair{"accuracy", "within 0.5 points of"}, {"loss", "within 0.005 of"}}) {
    std::vector<DescribedStudy> studies(1);
    studies[0] = {
        .view = {.name = "search", .directions = {Direction::maximize}, .trials = {&best}},
        .objectives = {objective}};
    const std::optional<StudyLeader> leader = leader_of(families_of(studies));
    ASSERT_TRUE(leader);
    EXPECT_NE(leader->summary.find(within), std::string::npos) << leader->summary;
  }
}

}  // namespace
}  // namespace hone
