#include <gtest/gtest.h>

#include "hone/jobs/study_tables.h"
#include "hone/search/storage/storage.h"
#include "tests/cli/run_hone.h"
#include "tests/support/expect.h"

// Studies in a storage, as they are listed, shown, exported and deleted.
namespace hone::testing {
namespace {

using Words = std::vector<std::string>;

// `x` in [0, 1] decides, the batch does not; its index stands for 16, 32 or 64.
Trial trial_of(double x, double value, std::int64_t batch = 1) {
  Trial trial;
  trial.state = TrialState::complete;
  trial.values = {value};
  trial.parameters = {{"x", real_values(0, 1), x},
                      {"batch", integer_values(0, 2), static_cast<double>(batch)}};
  trial.user_attributes[kSecondsAttribute] = 2.5;
  return trial;
}

class StudyCommand : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto storage = open_storage(file().string());
    const Study first = storage->create_study("first", {Direction::maximize});
    storage->set_study_attribute(first.id, AttributeOwner::system, kMetricNamesAttribute,
                                 {"accuracy"});
    storage->set_study_attribute(first.id, AttributeOwner::user, kIndexValuesAttribute,
                                 {{"batch", {16, 32, 64}}});
    for (int i = 0; i < 12; ++i)
      storage->create_trial(first.id, trial_of(i / 12.0, 0.5 + i / 24.0, i % 3));
    Trial failed = trial_of(0.1, 0);
    failed.values.clear();
    failed.state = TrialState::fail;
    storage->create_trial(first.id, failed);
    Trial waiting;
    waiting.state = TrialState::waiting;
    storage->create_trial(first.id, waiting);
    const Study second = storage->create_study("second", {Direction::maximize});
    storage->create_trial(second.id, trial_of(0.3, 0.7));
    const Study front = storage->create_study("front", {Direction::maximize, Direction::minimize});
    for (const auto& [a, b] : {std::pair(0.9, 8.0), {0.8, 4.0}, {0.7, 6.0}}) {
      Trial trial = trial_of(a, a);
      trial.values = {a, b};
      storage->create_trial(front.id, trial);
    }
    storage->close();
  }
  const fs::path& folder() const { return folder_.path(); }
  fs::path file() const { return folder() / "study.db"; }
  Json told(Words words = {}) const {
    words.insert(words.begin(), {"study", "study.db"});
    return run_json(words, folder());
  }
  std::string said(Words words) const {
    words.insert(words.begin(), {"study", "study.db"});
    const Ending ending = run_hone(words, folder());
    EXPECT_EQ(ending.code, 0) << ending.messages;
    return ending.output;
  }
  std::string refusal(Words words, int code = 1) const {
    words.insert(words.begin(), {"study", "study.db"});
    const Ending ending = run_hone(words, folder());
    EXPECT_EQ(ending.code, code) << ending.output;
    return ending.messages;
  }

 private:
  TemporaryFolder folder_;
};

TEST_F(StudyCommand, ListsWhatIsThere) {
  const Json studies = told().at("studies");
  ASSERT_EQ(studies.size(), 3u);
  EXPECT_EQ(studies[0]["study"], "first");
  EXPECT_EQ(studies[0]["objectives"][0]["formula"], "accuracy");
  EXPECT_EQ(studies[0]["trials"]["complete"], 12);
  EXPECT_EQ(studies[0]["trials"]["failed"], 1);
  EXPECT_EQ(studies[0]["waiting"], 1);
  EXPECT_EQ(studies[0]["best"]["number"], 11);
  EXPECT_TRUE(studies[2]["best"].is_null());
  EXPECT_EQ(studies[2]["front"], Json({0, 1}));
  EXPECT_NE(said({}).find("maximize value 0, minimize value 1"), std::string::npos);
}

TEST_F(StudyCommand, ShowsOneWithWhatItsIndicesMeanAndWhatMattered) {
  const Json first = told({"first"}).at("studies").at(0);
  EXPECT_EQ(first["best"]["parameters"]["batch"], 64);
  EXPECT_EQ(first["importances"][0]["name"], "x");
  const std::string text = said({"first"});
  EXPECT_NE(text.find("12 complete, 0 pruned, 1 failed, 1 waiting"), std::string::npos) << text;
  EXPECT_NE(text.find("batch 64"), std::string::npos);
  EXPECT_NE(text.find("the best of many is also a lucky one"), std::string::npos);
}

TEST_F(StudyCommand, LeavesAFolderWithFiguresByOptunasNames) {
  said({"first", "-o", "shown"});
  for (const char* name : {"optimization_history.svg", "param_importances.svg", "slice.svg",
                           "parallel_coordinate.png", "edf.svg", "trials.csv", "report.html"})
    EXPECT_TRUE(fs::exists(folder() / "shown" / name)) << name;
  EXPECT_FALSE(fs::exists(folder() / "shown/intermediate_values.svg"));  // none was reported
  said({"front", "-o", "of_two"});
  EXPECT_TRUE(fs::exists(folder() / "of_two/pareto_front.svg"));
  said({"first", "second", "-o", "beside"});
  EXPECT_NE(read_file(folder() / "beside/optimization_history.tsv").find("second"),
            std::string::npos);
}

TEST_F(StudyCommand, LaysOnlyStudiesOfOneAimBesideEachOther) {
  EXPECT_NE(refusal({"first", "front"}).find("one objective and one direction"), std::string::npos);
}

TEST_F(StudyCommand, ExportsTrialsAndOverwritesNothing) {
  said({"first", "--export", "trials.csv"});
  const std::string csv = read_file(folder() / "trials.csv");
  EXPECT_EQ(csv.substr(0, csv.find('\r')),
            "number,state,accuracy,seconds,start,end,cached,repeat_of,x,batch");
  EXPECT_NE(csv.find("12,FAIL,,2.5,"), std::string::npos) << csv;
  said({"first", "--export", "trials.json"});
  const Json json = read_json(folder() / "trials.json");
  EXPECT_EQ(json["all_trials"].size(), 14u);
  EXPECT_EQ(json["all_trials"][2]["parameters"]["batch"], 64);
  EXPECT_NE(refusal({"first", "--export", "trials.csv"}).find("--overwrite"), std::string::npos);
  EXPECT_NE(refusal({"first", "--export", "trials.txt"}).find(".csv or .json"), std::string::npos);
  EXPECT_NE(refusal({"--export", "all.csv"}).find("name it"), std::string::npos);
}

TEST_F(StudyCommand, DeletesOneAndNoOther) {
  EXPECT_NE(refusal({"--delete"}).find("one study is deleted at a time"), std::string::npos);
  EXPECT_NE(said({"second", "--delete"}).find("'second' with its trials deleted"),
            std::string::npos);
  const Json studies = told().at("studies");
  ASSERT_EQ(studies.size(), 2u);
  EXPECT_EQ(studies[0]["trials"]["complete"], 12);
}

TEST_F(StudyCommand, SaysWhatIsNotThere) {
  EXPECT_NE(refusal({"firts"}).find("it has first, second, front; did you mean 'first'?"),
            std::string::npos);
  const Ending missing = run_hone({"study", "nothing.db"}, folder());
  EXPECT_EQ(missing.code, 1);
  EXPECT_FALSE(fs::exists(folder() / "nothing.db"));
}

TEST_F(StudyCommand, WritesACopyForOlderPrograms) {
  said({"--for_optuna_3_1", "old.db"});
  EXPECT_TRUE(fs::exists(folder() / "old.db"));
  EXPECT_NE(refusal({"--for_optuna_3_1", "old.db"}).find("old.db"), std::string::npos);
}

}  // namespace
}  // namespace hone::testing
