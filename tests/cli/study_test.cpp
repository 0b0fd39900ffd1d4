#include <gtest/gtest.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <thread>

#include "hone/base/text.h"
#include "hone/jobs/search/study_tables.h"
#include "hone/search/storage/storage.h"
#include "tests/cli/run_hone.h"
#include "tests/support/expect.h"

// Tests of listing, showing, exporting and deleting studies.
namespace hone::testing {
namespace {

using Words = std::vector<std::string>;

// Only `x` in [0, 1] affects the value. `batch` is the index of 16, 32 or 64.
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
  EXPECT_EQ(studies[0]["trials"]["waiting"], 1);
  EXPECT_EQ(studies[0]["best"]["number"], 11);
  EXPECT_TRUE(studies[2]["best"].is_null());
  EXPECT_EQ(studies[2]["front"], Json({0, 1}));
  EXPECT_FALSE(studies[0]["last_activity"].is_null());
  EXPECT_TRUE(told()["families"].is_null()) << "nothing was compared";
  EXPECT_NE(said({}).find("maximize value 0, minimize value 1"), std::string::npos);
}

// For every mix of states the printed total is the sum of the printed counts.
TEST_F(StudyCommand, CountsTrialsOfEveryState) {
  const auto storage = open_storage(file().string());
  for (int mix = 0; mix < 32; ++mix) {
    const Study study = storage->create_study(fmt::format("mix {}", mix), {Direction::maximize});
    int number = 0;
    for (const TrialState state : {TrialState::complete, TrialState::pruned, TrialState::fail,
                                   TrialState::running, TrialState::waiting}) {
      if ((mix >> number++ & 1) == 0) continue;
      for (int i = 0; i < number; ++i) {
        Trial trial = trial_of(0.5, 0.5);
        if (state != TrialState::complete) trial.values.clear();
        trial.state = state;
        storage->create_trial(study.id, trial);
      }
    }
  }
  storage->close();
  for (const Json document = told(); const Json& study : document.at("studies")) {
    const Json& counts = study["trials"];
    std::int64_t sum = 0;
    for (const char* state : {"complete", "pruned", "failed", "running", "waiting"})
      sum += counts[state].get<std::int64_t>();
    EXPECT_EQ(counts["all"], sum) << study["study"];
  }
  EXPECT_NE(said({"mix 31"})
                .find("15 trials: 1 complete, 2 stopped early, 3 failed, 4 running, "
                      "5 waiting"),
            std::string::npos);
}

TEST_F(StudyCommand, ShowsOneWithWhatItsIndicesMeanAndWhatMattered) {
  const Json first = told({"first"}).at("studies").at(0);
  EXPECT_EQ(first["best"]["parameters"]["batch"], 64);
  EXPECT_EQ(first["importances"][0]["name"], "x");
  const std::string text = said({"first"});
  EXPECT_NE(text.find("12 complete, 1 failed, 1 waiting"), std::string::npos) << text;
  EXPECT_NE(text.find("batch 64"), std::string::npos);
  EXPECT_NE(text.find("the best of many trials is partly lucky"), std::string::npos);
}

TEST_F(StudyCommand, ShowsTheParetoFrontOfSeveralObjectives) {
  const std::string text = said({"front"});
  EXPECT_NE(text.find("0.9000   8.0000"), std::string::npos) << text;
  EXPECT_NE(text.find("0.8000   4.0000"), std::string::npos) << text;
  EXPECT_EQ(text.find("0.7000   6.0000"), std::string::npos) << "trial 1 dominates it\n" << text;
}

TEST_F(StudyCommand, ShowsCompleteTrialsWhereNoneIsWithinTheLimits) {
  const auto storage = open_storage(file().string());
  const Study strict = storage->create_study("strict", {Direction::maximize, Direction::minimize});
  for (const double a : {0.9, 0.8}) {
    Trial trial = trial_of(a, a);
    trial.values = {a, 8};
    trial.system_attributes["constraints"] = {0.1};
    storage->create_trial(strict.id, trial);
  }
  storage->close();
  const std::string text = said({"strict"});
  EXPECT_NE(text.find("none shown to be within the limits"), std::string::npos) << text;
  for (const char* value : {"0.9000", "0.8000"})
    EXPECT_NE(text.find(value), std::string::npos) << text;
}

TEST_F(StudyCommand, LeavesAFolderWithFiguresByOptunasNames) {
  said({"first", "-o", "shown"});
  for (const char* name : {"optimization_history.svg", "param_importances.svg", "slice.svg",
                           "parallel_coordinate.png", "edf.svg", "trials.csv", "report.html"})
    EXPECT_TRUE(fs::exists(folder() / "shown" / name)) << name;
  EXPECT_FALSE(fs::exists(folder() / "shown/intermediate_values.svg"));  // none reported
  said({"front", "-o", "of_two"});
  EXPECT_TRUE(fs::exists(folder() / "of_two/pareto_front.svg"));
  said({"first", "second", "-o", "beside"});
  EXPECT_NE(read_file(folder() / "beside/optimization_history.tsv").find("second"),
            std::string::npos);
}

// Figures contain all trials. The text of a point is stored once, and curves are a sample.
TEST_F(StudyCommand, WritesSmallPagesOfManyTrials) {
  const auto storage = open_storage(file().string());
  const Study study = storage->create_study("many", {Direction::maximize});
  constexpr int kTrials = 600;
  for (int i = 0; i < kTrials; ++i)
    storage->create_trial(study.id, trial_of(i % 97 / 97.0, i * 31 % kTrials / 600.0, i % 3));
  storage->close();
  said({"many", "-o", "many"});
  const std::string page = read_file(folder() / "many/report.html");
  EXPECT_LT(page.size(), 600'000u);
  EXPECT_NE(page.find("Parallel coordinates of 100 of 600 trials"), std::string::npos);
  const std::string slices = read_file(folder() / "many/slice.tsv");
  EXPECT_EQ(std::ranges::count(slices, '\n'), 2 * kTrials + 3) << "two panels";
}

TEST_F(StudyCommand, LaysOnlyStudiesOfOneAimBesideEachOther) {
  EXPECT_NE(refusal({"first", "front"}).find("one objective and the same direction"),
            std::string::npos);
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
  EXPECT_EQ(json["all_trials"][12]["state"], "fail");
  EXPECT_NE(refusal({"first", "--export", "trials.csv"}).find("--overwrite"), std::string::npos);
  EXPECT_NE(refusal({"first", "--export", "trials.txt"}).find(".csv or .json"), std::string::npos);
  EXPECT_NE(refusal({"--export", "all.csv"}).find("name the one study to export"),
            std::string::npos);
}

TEST_F(StudyCommand, DeletesOneAndNoOther) {
  EXPECT_NE(refusal({"--delete", "--yes"}).find("name the one study to delete"), std::string::npos);
  EXPECT_NE(refusal({"second", "--delete"}, 2).find("give --yes too"), std::string::npos);
  EXPECT_EQ(told().at("studies").size(), 3u);
  EXPECT_NE(said({"second", "--delete", "--yes"}).find("'second' with its trials deleted"),
            std::string::npos);
  const Json studies = told().at("studies");
  ASSERT_EQ(studies.size(), 2u);
  EXPECT_EQ(studies[0]["trials"]["complete"], 12);
}

// Three seeds of one sampler and one of another. The trials of each study have the values 0.5, 0.6 and a best value.
class ComparedStudies : public StudyCommand {
 protected:
  void SetUp() override {
    StudyCommand::SetUp();
    const auto storage = open_storage(file().string());
    const auto add = [&](const std::string& name, const char* sampler, int seed, double best) {
      const Study study = storage->create_study(name, {Direction::maximize});
      storage->set_study_attribute(study.id, AttributeOwner::user, kFamilyAttribute,
                                   {{"sampler", sampler}});
      storage->set_study_attribute(study.id, AttributeOwner::user, kSeedAttribute, seed);
      for (const double value : {0.5, 0.6, best})
        storage->create_trial(study.id, trial_of(value, value));
    };
    add("tpe-2", "tpe", 2, 0.8);
    add("random-1", "random", 1, 0.7);
    add("tpe-1", "tpe", 1, 0.7);
    add("tpe-3", "tpe", 3, 0.797);
    storage->close();
  }
  const Words all_ = {"tpe-2", "random-1", "tpe-1", "tpe-3"};
};

TEST_F(ComparedStudies, AreOneRowWhereTheyDifferInTheirSeedAlone) {
  const Json families = told(all_).at("families");
  ASSERT_EQ(families.size(), 2u);
  EXPECT_EQ(families[0]["label"], "tpe: 3 seeds (1, 2, 3)");
  EXPECT_EQ(families[0]["studies"], Json({"tpe-1", "tpe-2", "tpe-3"}));
  EXPECT_EQ(families[0]["seeds"], Json({1, 2, 3}));
  EXPECT_EQ(families[0]["trials_to_reach"], Json({nullptr, 3, 3}));  // for 0.8, within 0.005
  EXPECT_EQ(families[1]["label"], "random-1");
  const std::string text = said(all_);
  EXPECT_NE(text.find("0.7970 (0.7000 to 0.8000)"), std::string::npos) << text;
  EXPECT_NE(text.find("3 (3 to more than 3)"), std::string::npos) << text;
}

TEST_F(ComparedStudies, AreOneCurveWithABandOfAllSeeds) {
  Words words = all_;
  words.insert(words.end(), {"-o", "beside"});
  said(words);
  const std::string data = read_file(folder() / "beside/optimization_history.tsv");
  EXPECT_NE(data.find("1\ttpe: 3 seeds (1, 2, 3)\t3\t0.797\t0.7\t0.8\t"), std::string::npos)
      << data;
  EXPECT_NE(data.find("1\trandom-1\t3\t0.7\tnan\tnan\t"), std::string::npos) << data;
}

TEST_F(ComparedStudies, SayWhichSamplerCameNearToTheBestFirst) {
  const Json leader = told(all_).at("leader");
  EXPECT_EQ(leader["label"], "tpe: 3 seeds (1, 2, 3)");
  EXPECT_EQ(leader["sampler"], nullptr) << "one seed of TPE never reached it, nor did random";
  EXPECT_EQ(leader["summary"],
            "No sampler is shown to be faster. Median trials (range over seeds) to within 0.005 of "
            "the best value: tpe 3 (3 to more than 3), random more than 3.");
  EXPECT_EQ(told({"tpe-2", "random-1"}).at("leader")["sampler"], "tpe");
}

TEST_F(ComparedStudies, NameNoSamplerWhereAnotherDidAsWell) {
  const Json leader = told({"random-1", "tpe-1"}).at("leader");
  EXPECT_EQ(leader["label"], "random-1");
  EXPECT_EQ(leader["sampler"], nullptr);
  const auto sentence = leader["summary"].get<std::string>();
  EXPECT_TRUE(sentence.starts_with("No sampler is shown to be faster. ")) << sentence;
  EXPECT_NE(sentence.find("random 3, tpe 3"), std::string::npos) << sentence;
}

// Studies may be in separate storages, as searches leave them.
TEST_F(ComparedStudies, MayStandInFilesOfTheirOwn) {
  Words files;
  for (const auto& [name, seed, best] : {std::tuple("a", 1, 0.7), {"b", 2, 0.9}}) {
    fs::create_directories(folder() / name);
    const auto storage = open_storage((folder() / name / "study.db").string());
    const Study study = storage->create_study("search", {Direction::maximize});
    storage->set_study_attribute(study.id, AttributeOwner::user, kFamilyAttribute,
                                 {{"sampler", "random"}});
    storage->set_study_attribute(study.id, AttributeOwner::user, kSeedAttribute, seed);
    storage->create_trial(study.id, trial_of(0.5, best));
    storage->close();
    files.push_back(std::string(name) + "/study.db");
  }
  const Json beside = run_json({"study", "--beside", files[0], files[1]}, folder());
  ASSERT_EQ(beside["families"].size(), 1U);
  EXPECT_EQ(beside["families"][0]["studies"], Json({"a", "b"}));
  EXPECT_EQ(beside["leader"]["sampler"], "random");
  EXPECT_EQ(run_json({"study", files[0], "--beside", files[1]}, folder())["families"],
            beside["families"]);
  EXPECT_EQ(run_hone({"study"}, folder()).code, 2);
  const Ending kept =
      run_hone({"study", files[0], "--beside", files[1], "--delete", "--yes"}, folder());
  EXPECT_EQ(kept.code, 1);
  EXPECT_NE(kept.messages.find("from one storage"), std::string::npos) << kept.messages;
}

// A repeated seed does not count as a second one.
TEST_F(ComparedStudies, StandAloneWithTheSeedOfAnother) {
  const auto storage = open_storage(file().string());
  storage->set_study_attribute(storage->find_study("tpe-3")->id, AttributeOwner::user,
                               kSeedAttribute, 2);
  storage->close();
  EXPECT_EQ(told(all_).at("families").size(), 3u);
}

TEST_F(StudyCommand, ZoomsInWhereValuesCrowdAndShowsWhatAnObjectiveIsMadeOf) {
  const auto storage = open_storage(file().string());
  const Study study = storage->create_study("made", {Direction::maximize});
  storage->set_study_attribute(study.id, AttributeOwner::system, kMetricNamesAttribute,
                               Json::array({"accuracy - 0.01*bits"}));
  for (int i = 0; i < 12; ++i) {
    Trial trial = trial_of(i / 12.0, i == 0 ? 0.1 : 0.7 + i / 1000.0);
    trial.user_attributes[kMetricsAttribute] = {{"accuracy", 0.8 + i / 1000.0}, {"bits", 10 + i}};
    storage->create_trial(study.id, trial);
  }
  storage->close();
  said({"made", "-o", "made"});
  EXPECT_TRUE(fs::exists(folder() / "made/optimization_history_zoom.svg"));
  const std::string data = read_file(folder() / "made/optimization_metrics.tsv");
  EXPECT_NE(data.find("2\ta trial\t4\t0.803\t"), std::string::npos) << data;
  EXPECT_NE(data.find("3\tbest so far by the objective\t4\t13\t"), std::string::npos) << data;
  const std::string svg = read_file(folder() / "made/optimization_history.svg");
  EXPECT_NE(svg.find("<title>a trial, trial 4: Trial 4, accuracy - 0.01*bits 0.703; x 0.25, "
                     "batch 1</title>"),
            std::string::npos)
      << svg;
}

TEST_F(StudyCommand, SaysHowSureAnAccuracyIs) {
  EXPECT_NE(said({"first"}).find("There are no confidence intervals"), std::string::npos);
  const auto storage = open_storage(file().string());
  storage->set_study_attribute(storage->find_study("first")->id, AttributeOwner::user,
                               kMeasuredOnAttribute,
                               {{"text", "validation, n = 240"}, {"n", 240}, {"effective_n", 240}});
  storage->close();
  const std::string text = said({"first"});
  EXPECT_NE(text.find("95.8% (92.5 to 97.7)"), std::string::npos) << text;
  EXPECT_NE(text.find("95% confidence intervals (Wilson) are of each trial alone"),
            std::string::npos);
}

// Types `answer` on a terminal.
TEST_F(StudyCommand, AsksAPersonBeforeItDeletes) {
  const auto answered = [&](const char* answer) {
    int terminal = -1;
    const pid_t process = ::forkpty(&terminal, nullptr, nullptr, nullptr);
    if (process == 0) {
      fs::current_path(folder());
      const std::string program = hone_program();
      ::execl(program.c_str(), program.c_str(), "study", "study.db", "first", "--delete", nullptr);
      ::_exit(127);
    }
    EXPECT_GT(::write(terminal, answer, std::strlen(answer)), 0);
    std::string shown;
    char buffer[4096];
    for (ssize_t got = 0; (got = ::read(terminal, buffer, sizeof buffer)) > 0;)
      shown.append(buffer, static_cast<std::size_t>(got));
    ::waitpid(process, nullptr, 0);
    ::close(terminal);
    return shown;
  };
  const std::string kept = answered("\n");
  EXPECT_NE(kept.find("Delete study 'first' with its 14 trials from study.db? [y/N]"),
            std::string::npos)
      << kept;
  EXPECT_NE(kept.find("Study 'first' was not deleted"), std::string::npos) << kept;
  EXPECT_EQ(told().at("studies").size(), 3u);
  answered("y\n");
  EXPECT_EQ(told().at("studies").size(), 2u);
}

TEST_F(StudyCommand, SaysOfHowManyTrialsImportancesAre) {
  EXPECT_NE(said({"first"}).find("the best 10% of 12 complete trials (PED-ANOVA): 2 trials"),
            std::string::npos);
}

TEST_F(StudyCommand, TellsWhatWasInterruptedFromWhatFailed) {
  const auto storage = open_storage(file().string());
  Trial again = trial_of(0.1, 0.4);
  again.system_attributes["failed_trial"] = 12;
  storage->create_trial(storage->find_study("first")->id, again);
  storage->close();
  EXPECT_NE(said({"first"}).find(" trials (1 interrupted and run again)"), std::string::npos);
}

// A running search's study is found by its final path.
TEST_F(StudyCommand, FindsTheStudyOfASearchThatRuns) {
  fs::create_directory(folder() / "out.partial");
  fs::copy_file(file(), folder() / "out.partial/study.db");
  const Json told = run_json({"study", "out/study.db"}, folder());
  EXPECT_EQ(told["studies"].size(), 3u);
}

TEST_F(StudyCommand, SaysWhatIsNotThere) {
  EXPECT_NE(refusal({"firts"}).find("it has first, second, front; did you mean 'first'?"),
            std::string::npos);
  const Ending missing = run_hone({"study", "nothing.db"}, folder());
  EXPECT_EQ(missing.code, 1);
  EXPECT_FALSE(fs::exists(folder() / "nothing.db"));
}

class WatchCommand : public StudyCommand {
 protected:
  std::string watched(Words words) const {
    words.insert(words.begin(), {"watch", "study.db", "--idle", "0.1", "--quiet"});
    const Ending ending = run_hone(words, folder());
    EXPECT_EQ(ending.code, 0) << ending.messages;
    return ending.output;
  }
};

TEST_F(WatchCommand, TellsTheLastOnesAndWhichOfThemWasTheBestSoFar) {
  const std::vector<std::string> lines = split(watched({"first", "--last", "3"}), '\n');
  ASSERT_GE(lines.size(), 4u);
  EXPECT_EQ(lines[0], "   11     0.9167  best  0:02  x 0.8333, batch 32");
  EXPECT_EQ(lines[1], "   12     0.9583  best  0:02  x 0.9167, batch 64");
  EXPECT_EQ(lines[2], "   13       fail        0:02  x 0.1, batch 32");
  EXPECT_NE(lines[3].find("(trial 12)"), std::string::npos);
}

TEST_F(WatchCommand, TellsProgramsALineForEachTrial) {
  const std::vector<std::string> lines = split(watched({"first", "--last", "100", "--json"}), '\n');
  ASSERT_EQ(lines.size(), 14u);  // the last one is empty
  const Json last = Json::parse(lines[12]);
  EXPECT_EQ(last["number"], 12);
  EXPECT_EQ(last["state"], "fail");
  EXPECT_EQ(last["is_best"], false);
  EXPECT_EQ(last["parameters"]["batch"], 32);
}

TEST_F(WatchCommand, TakesTheStudyInWhichSomethingHappenedLast) {
  EXPECT_NE(watched({}).find("on the Pareto front"), std::string::npos);
}

// Trials that end while it watches, the last ones after it has surely started.
TEST_F(WatchCommand, FollowsWhatOthersWrite) {
  std::thread writer([&] {
    const auto storage = open_storage(file().string(), /*must_exist=*/true);
    for (const double value : {0.95, 0.96, 0.97, 0.98, 0.99}) {
      std::this_thread::sleep_for(std::chrono::milliseconds(500));
      storage->create_trial(storage->find_study("second")->id, trial_of(0.5, value));
    }
  });
  const Ending ending =
      run_hone({"watch", "study.db", "second", "--idle", "2", "--last", "0"}, folder());
  writer.join();
  EXPECT_NE(ending.output.find("    6     0.9900  best  0:"), std::string::npos) << ending.output;
  EXPECT_NE(ending.messages.find("second  6 trials  "), std::string::npos) << ending.messages;
  EXPECT_NE(ending.messages.find("best 0.9900 of trial 6"), std::string::npos) << ending.messages;
}

TEST_F(StudyCommand, WritesACopyForOlderPrograms) {
  said({"--for_optuna_3_1", "old.db"});
  EXPECT_TRUE(fs::exists(folder() / "old.db"));
  EXPECT_NE(refusal({"--for_optuna_3_1", "old.db"}).find("old.db"), std::string::npos);
}

}  // namespace
}  // namespace hone::testing
