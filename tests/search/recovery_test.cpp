#include "hone/search/engine/recovery.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hone/base/interrupt.h"
#include "tests/search/memory_storage.h"
#include "tests/search/search_runs.h"
#include "tests/support/expect.h"

namespace hone::testing {
namespace {

// Returns the id of a child process that has ended.
pid_t ended_process() {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  ::waitpid(child, nullptr, 0);
  return child;
}

Trial left_running(MemoryStorage& storage, const Json& worker) {
  const Study study = storage.create_study("s", {Direction::minimize});
  Trial trial;
  trial.parameters = {{"x", real_values(-5, 5), 1.5}, {"y", real_values(0, 1), 0.25}};
  trial.user_attributes["worker"] = worker;
  return storage.create_trial(study.id, trial);
}

TEST(Recovery, SeesThatAProcessOfThisMachineHasEnded) {
  Json worker = current_worker();
  EXPECT_FALSE(is_dead(worker));
  worker["start"] = "1";  // another process with the same id
  EXPECT_TRUE(is_dead(worker));
  worker = current_worker();
  worker["pid"] = ended_process();
  EXPECT_TRUE(is_dead(worker));
  worker["host"] = "elsewhere";
  EXPECT_FALSE(is_dead(worker));
  worker = current_worker();
  worker["pid"] = ended_process();
  worker["space"] = "another container";
  EXPECT_FALSE(is_dead(worker));
  for (const Json& strange : {Json("me"), Json::object(), Json(nullptr)})
    EXPECT_FALSE(is_dead(strange));
}

TEST(Recovery, RunsATrialOfADeadWorkerAgainOnceHoweverManySweep) {
  MemoryStorage storage;
  Json dead = current_worker();
  dead["pid"] = ended_process();
  left_running(storage, dead);
  run_workers(8, storage, *no_pruner(), value_of,
              {.study = "s", .space = real_space(), .concurrency = 8, .trials = 20});
  const std::vector<Trial> table = storage.table();
  ASSERT_EQ(table.size(), 21u);  // the copy counts instead of the original
  EXPECT_EQ(table[0].state, TrialState::fail);
  EXPECT_TRUE(
      table[0].user_attributes.at("fail_reason").get<std::string>().find("no longer exists") !=
      std::string::npos);
  int copies = 0;
  for (const Trial& trial : table) copies += trial.system_attributes.contains("failed_trial");
  EXPECT_EQ(copies, 1);
  EXPECT_EQ(table[1].system_attributes.at("failed_trial"), 0);
  EXPECT_EQ(table[1].system_attributes.at("retry_history"), Json::array({0}));
  EXPECT_EQ(key_of(table[1].parameters), key_of(table[0].parameters));
  EXPECT_EQ(table[1].state, TrialState::complete);
}

TEST(Recovery, GivesUpOnATrialThatKillsItsWorkers) {
  MemoryStorage storage;
  Json dead = current_worker();
  dead["pid"] = ended_process();
  left_running(storage, dead);
  run_one_worker(storage, value_of,
                 {.study = "s", .space = real_space(), .trials = 3, .retries = 0});
  const std::vector<Trial> table = storage.table();
  EXPECT_EQ(table.size(), 3u);
  EXPECT_FALSE(table[0].system_attributes.contains(kRunAgain));

  // A copy that was lost as often as allowed.
  TrialTable lost;
  for (std::int64_t i = 0; i < 3; ++i) {
    Trial trial{.number = i, .state = TrialState::fail};
    trial.system_attributes[kRunAgain] = i == 1 ? kInterrupted : kLost;
    Json history = Json::array();
    for (std::int64_t k = 0; k < i; ++k) history.push_back(k);
    trial.system_attributes["retry_history"] = history;
    lost.push_back(std::make_shared<Trial>(trial));
  }
  EXPECT_EQ(times_lost(lost, *lost[0]), 1);
  EXPECT_EQ(times_lost(lost, *lost[2]), 2);  // interruptions do not count
  const std::optional<Trial> copy = next_missing_copy(lost);
  ASSERT_TRUE(copy.has_value());
  EXPECT_EQ(copy->number, 3);
  EXPECT_EQ(copy->state, TrialState::waiting);
  EXPECT_EQ(copy->system_attributes.at("failed_trial"), 0);
  EXPECT_EQ(copy->system_attributes.at("retry_history"), Json::array({0, 1, 2}));
}

TEST(Recovery, TakesASilentWorkerElsewhereForDead) {
  MemoryStorage storage;
  const Trial trial = left_running(storage, {{"host", "elsewhere"}, {"pid", 1}});
  storage.record_heartbeat(trial.id);
  std::vector<std::string> warnings;
  run_one_worker(
      storage, value_of,
      {.study = "s", .space = real_space(), .trials = 3, .heartbeat_seconds = 0.05},
      {.on_warning = [&](const std::string& sentence) { warnings.push_back(sentence); }});
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_EQ(warnings[0],
            "trial 0 failed: its worker, process 1 on elsewhere, no longer exists; it is "
            "run again");
  EXPECT_EQ(storage.table()[0].state, TrialState::fail);
  EXPECT_EQ(storage.table().size(), 4u);
}

TEST(Recovery, LeavesATrialToWhoeverTookItsWorkerForDead) {
  MemoryStorage storage;
  std::vector<std::string> warnings;
  const auto objective = [&](TrialRun& run) {
    if (run.trial().number == 1)
      storage.finish(run.trial().id, end_of_lost(run.trial(), /*retried=*/true));
    return value_of(run);
  };
  const SearchEnd end = run_one_worker(
      storage, objective, {.study = "s", .space = real_space(), .trials = 4},
      {.on_warning = [&](const std::string& sentence) { warnings.push_back(sentence); }});
  EXPECT_EQ(warnings, std::vector<std::string>{"trial 1 is FAIL already"});
  EXPECT_EQ(end.trials, 4);
  const std::vector<Trial> table = storage.table();
  ASSERT_EQ(table.size(), 5u);
  EXPECT_EQ(table[2].system_attributes.at("failed_trial"), 1);
  EXPECT_EQ(key_of(table[2].parameters), key_of(table[1].parameters));
}

TEST(Recovery, LeavesAnInterruptedTrialToBeRunAgain) {
  MemoryStorage storage;
  bool asked = true;
  const auto objective = [&](TrialRun& run) {
    if (run.trial().number == 2 && asked) throw Interrupted("interrupted");
    return value_of(run);
  };
  const SearchOptions options{.study = "s", .space = real_space(), .trials = 5, .retries = 0};
  EXPECT_EQ(run_one_worker(storage, objective, options).reason, EndReason::interrupted);
  ASSERT_EQ(storage.table().size(), 4u);
  EXPECT_EQ(storage.table()[2].state, TrialState::fail);
  EXPECT_EQ(storage.table()[3].state, TrialState::waiting);
  asked = false;
  EXPECT_EQ(run_one_worker(storage, objective, options).trials, 3);
  const std::vector<Trial> table = storage.table();
  EXPECT_EQ(table.size(), 6u);
  EXPECT_EQ(table[3].state, TrialState::complete);
  EXPECT_EQ(key_of(table[3].parameters), key_of(table[2].parameters));
  EXPECT_EQ(storage.find_study("s")->user_attributes.at("end_reason"), "trials");
}

TEST(Recovery, DrawsAfterwardsWhatAStudyWithoutInterruptionDraws) {
  const auto points = [](Sampler& sampler, bool interrupted) {
    MemoryStorage storage;
    const SearchOptions options{.study = "s", .space = small_space(), .trials = 8};
    const auto objective = [&](TrialRun& run) {
      if (run.trial().number == 2 && std::exchange(interrupted, false)) throw Interrupted("");
      return value_of(run);
    };
    while (run_search(storage, sampler, *no_pruner(), objective, options).reason ==
           EndReason::interrupted)
      ;
    std::vector<std::string> keys;
    for (const Trial& trial : storage.table())
      if (trial.state == TrialState::complete) keys.push_back(key_of(trial.parameters));
    return keys;
  };
  const auto expect_same = [&](const std::function<std::unique_ptr<Sampler>()>& sampler) {
    const std::vector<std::string> whole = points(*sampler(), false);
    EXPECT_EQ(whole.size(), 8u);
    EXPECT_EQ(points(*sampler(), true), whole);
  };
  expect_same([] { return random_sampler({.seed = 3}); });
  expect_same([] { return grid_sampler({.seed = 3}); });
  expect_same([] { return tpe_sampler({.seed = 3, .startup_trials = 3}); });
}

TEST(Recovery, EndsTheSearchWhereTheStorageIsGone) {
  class Gone : public MemoryStorage {
   public:
    void write(std::int64_t, const TrialChange&) override {
      hone::fail("the server no longer exists");
    }
  };
  Gone storage;
  WatchfulSampler sampler;
  const auto objective = [](TrialRun& run) {
    run.set_user_attribute("note", 1);
    return value_of(run);
  };
  EXPECT_EQ(user_error_of([&] {
              run_search(storage, sampler, *no_pruner(), objective,
                         {.study = "s", .space = real_space(), .trials = 3});
            }),
            "the server no longer exists");
  EXPECT_EQ(storage.table()[0].state, TrialState::running);
}

TEST(Recovery, WaitsForAnotherProgramNoLongerThanItGivesItsOwn) {
  MemoryStorage storage;
  const Study study = storage.create_study("s", {Direction::minimize});
  storage.create_trial(study.id, {});  // has no worker
  const auto start = std::chrono::steady_clock::now();
  run_one_worker(storage, value_of,
                 {.study = "s", .space = real_space(), .trials = 3, .heartbeat_seconds = 0.1});
  EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(190));
  EXPECT_EQ(storage.table().size(), 3u);
  EXPECT_EQ(storage.table()[0].state, TrialState::running);
}

}  // namespace
}  // namespace hone::testing
