#include "hone/jobs/pipeline/pipeline_studies.h"

#include <gtest/gtest.h>

#include "hone/jobs/pipeline/pipeline_formulas.h"
#include "hone/jobs/pipeline/pipeline_tables.h"
#include "hone/jobs/search/study_tables.h"
#include "tests/support/expect.h"

// Tests of the studies of a pipeline's searches in one storage, and of the figures and tables that read them.
namespace hone {
namespace {

Trial trial_of(double value, TrialState state = TrialState::complete) {
  Trial trial{.state = state,
              .parameters = {{"bits", integer_values(4, 8), 6}},
              .reports = {{1, 0.5}},
              .user_attributes = {{kMetricsAttribute, {{"average_bits", 10 * value}}}}};
  if (state == TrialState::complete) trial.values = {value};
  return trial;
}

// Writes a study as `hone search` does in the folder of a stage.
void search_in(const fs::path& folder, const std::vector<Trial>& trials) {
  fs::create_directories(folder);
  const auto storage = open_storage((folder / "study.db").string());
  const Study study = storage->create_study("search", {Direction::maximize});
  storage->set_study_attribute(study.id, AttributeOwner::system, kMetricNamesAttribute,
                               Json::array({"accuracy"}));
  for (const Trial& trial : trials) storage->create_trial(study.id, trial);
  storage->close();
}

Pipeline two_searches() {
  return parse_pipeline(
      "[stage.search]\neach = { seed = [1, 2] }\nrun = \"search\"\n[stage.other]\nrun = \"eval\"",
      "chain.toml", {{"search", {.searches = true}}}, {});
}

TEST(PipelineStudies, StandTogetherByTheNamesOfTheirStages) {
  const TemporaryFolder folder;
  const Pipeline pipeline = two_searches();
  search_in(folder.path() / "search/1", {trial_of(0.5), trial_of(0.25, TrialState::fail)});
  search_in(folder.path() / "search/2", {trial_of(0.75)});
  write_studies(pipeline, read_stage_studies(pipeline, folder.path()), folder.path());
  remove_stage_studies(pipeline, folder.path());
  EXPECT_FALSE(fs::exists(folder.path() / "study.db-wal"));
  const StageStudies again = read_stage_studies(pipeline, folder.path());
  ASSERT_EQ(again.size(), 2U);
  const LoadedStudy& first = again.at("search/1");
  ASSERT_EQ(first.trials.size(), 2U);
  EXPECT_EQ(first.trials[0]->values, std::vector<double>{0.5});
  EXPECT_EQ(first.trials[0]->parameters.at(0).value, 6);
  EXPECT_EQ(first.trials[0]->reports.at(1), 0.5);
  EXPECT_EQ(first.trials[1]->state, TrialState::fail);
  EXPECT_EQ(objective_metric(first), "accuracy");
  EXPECT_EQ(again.at("search/2").trials[0]->values, std::vector<double>{0.75});
}

TEST(PipelineStudies, HaveTheirFinishedTrialsAsRows) {
  const TemporaryFolder folder;
  const Pipeline pipeline = parse_pipeline(R"toml(
[stage.search]
run = "search"
[pick.few]
stages = "search"
rows = "trial"
highest = "values.0"
where = "metrics.average_bits <= 6"
[table.trials]
rows = "trial"
stages = "search"
[[table.trials.column]]
label = "Trial"
y = "number + 1"
[[table.trials.column]]
label = "Bits"
y = "parameters.bits"
)toml",
                                           "chain.toml", {{"search", {.searches = true}}}, {});
  search_in(folder.path() / "search",
            {trial_of(0.75), trial_of(0.25), trial_of(0.5), trial_of(0.25, TrialState::fail)});
  const std::vector<StageOutcome> outcomes = {{.chosen_stage = "search"}};
  const StageStudies studies = read_stage_studies(pipeline, folder.path());
  const fs::path path = folder.path();
  const PipelineFindings found = {pipeline, outcomes, studies, path};
  const PickCount count = count_of(pipeline.picks[0], found);
  // The failed trial counts as one of four. It has no metrics, so it fulfils no condition.
  EXPECT_EQ(count.all, 4);
  EXPECT_EQ(count.fulfilling, 2);
  EXPECT_EQ(estimate_in(*source_of({.pick = 0}, found), "number", found).value, 2);
  EXPECT_EQ(to_csv(pipeline_table(pipeline.tables[0], found)),
            "trial,bits\r\n1,6\r\n2,6\r\n3,6\r\n4,6\r\n");
}

// Values can be addressed with patterns in place of layer names.
TEST(PipelineStudies, HaveTheConfigurationsOfTheirTrials) {
  const TemporaryFolder folder;
  const Pipeline pipeline = parse_pipeline(
      "[stage.search]\nrun = \"search\"\n[pick.trial]\nstages = \"search\"\nrows = "
      "\"trial\"\nhighest = \"number\"",
      "chain.toml", {{"search", {.searches = true}}}, {});
  const Json formats = {
      {"encoder.0.query", {{"weight", "int(bits=4)"}, {"input", "int(bits=4)"}, {"bias", "none"}}},
      {"encoder.0.key", {{"weight", "int(bits=4)"}, {"input", "none"}}}};
  Trial trial = trial_of(0.5, TrialState::fail);
  trial.user_attributes[kConfigurationAttribute] = {{"formats", formats}};
  search_in(folder.path() / "search", {trial});
  const std::vector<StageOutcome> outcomes = {{.chosen_stage = "search"}};
  const StageStudies studies = read_stage_studies(pipeline, folder.path());
  const fs::path path = folder.path();
  const PipelineFindings found = {pipeline, outcomes, studies, path};
  const std::optional<ValueSource> place = source_of({.pick = 0}, found);
  ASSERT_TRUE(place);
  const auto text = [&](const std::string& key) {
    return display_text(cell_in(*place, "configuration.formats." + key, found));
  };
  EXPECT_EQ(text("*.weight"), "int(bits=4)");
  EXPECT_EQ(text("*.input"), display_text(absent)) << "the layers have several";
  EXPECT_EQ(text("*.bias"), display_text(absent)) << "one of the layers has none";
  EXPECT_EQ(text("encoder.0.key.input"), "full precision");
}

TEST(PipelineStudies, AStageThatIsComputedAgainTakesThePlaceOfItsStudy) {
  const TemporaryFolder folder;
  const Pipeline pipeline = two_searches();
  for (const double value : {0.25, 0.5}) {
    search_in(folder.path() / "search/1", {trial_of(value)});
    write_studies(pipeline, read_stage_studies(pipeline, folder.path()), folder.path());
    fs::remove(folder.path() / "search/1/study.db");
  }
  const StageStudies studies = read_stage_studies(pipeline, folder.path());
  ASSERT_EQ(studies.size(), 1U);
  EXPECT_EQ(studies.at("search/1").trials.at(0)->values, std::vector<double>{0.5});
}

TEST(PipelineStudies, ARunWithoutSearchesHasNone) {
  const TemporaryFolder folder;
  const Pipeline pipeline = two_searches();
  write_studies(pipeline, read_stage_studies(pipeline, folder.path()), folder.path());
  EXPECT_FALSE(fs::exists(folder.path() / "study.db"));
}

}  // namespace
}  // namespace hone
