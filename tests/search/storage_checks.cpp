#include "tests/search/storage_checks.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <limits>
#include <set>
#include <thread>

#include "hone/search/python_json.h"
#include "tests/support/expect.h"

namespace hone::testing {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();
const double kNan = std::numeric_limits<double>::quiet_NaN();

bool same_number(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

std::int64_t new_study(StudyStorage& storage, const std::string& name) {
  return storage.create_study(name, {Direction::minimize}).id;
}

// Runs `work` in `count` child processes and waits for them.
void in_processes(int count, const std::function<void(int)>& work) {
  std::vector<pid_t> processes;
  for (int i = 0; i < count; ++i) {
    const pid_t process = ::fork();
    if (process == 0) {
      int code = 1;
      try {
        work(i);
        code = 0;
      } catch (const std::exception& error) {
        fmt::print(stderr, "process {}: {}\n", i, error.what());
      }
      ::_exit(code);
    }
    processes.push_back(process);
  }
  for (const pid_t process : processes) {
    int status = 0;
    ::waitpid(process, &status, 0);
    EXPECT_EQ(status, 0);
  }
}

void run_one(StudyStorage& storage, Trial trial, double value) {
  storage.write(trial.id, {.parameters = {{"x", real_values(0, 1), value},
                                          {"y", integer_values(0, 9), 3},
                                          {"z", choice_of({"a", "b"}), 1}}});
  storage.finish(trial.id, {.values = {value}, .change = {.reports = {{1, value}}}});
}

}  // namespace

Trial full_trial(TrialState state) {
  Trial trial;
  trial.state = state;
  trial.parameters = {
      {"layers", integer_values(2, 8, 2), 4},
      {"rate", real_values(1e-5, 0.1, {}, true), 0.1 + 0.2 - 0.25},
      {"dropout", real_values(0, 0.5, 0.1), 0.1},
      {"batch", integer_values(1, 64, 1, true), 32},
      {"a kind, 'quoted' \"twice\" and é", choice_of({"int8", nullptr, true, 4, 2.5}), 3},
  };
  trial.reports = {{-1, 0.5}, {0, kNan}, {1, kInfinite}, {7, -kInfinite}, {2'000'000'000, 1e-300}};
  trial.user_attributes = {{"list", {1, 2.5, "три", nullptr}}, {"nan", kNan}};
  trial.system_attributes = {{"fixed_params", {{"layers", 4}}}};
  return trial;
}

std::vector<Trial> all_trials(StudyStorage& storage, const std::string& study) {
  std::vector<std::shared_ptr<const Trial>> trials;
  storage.read_trials(storage.find_study(study).value().id, trials);
  std::vector<Trial> values;
  for (const auto& trial : trials) values.push_back(*trial);
  return values;
}

void expect_same(const Trial& a, const Trial& b) {
  EXPECT_EQ(a.id, b.id);
  EXPECT_EQ(a.number, b.number);
  EXPECT_EQ(a.state, b.state);
  EXPECT_EQ(a.values, b.values);
  EXPECT_EQ(a.start, b.start);
  EXPECT_EQ(a.end, b.end);
  ASSERT_EQ(a.parameters.size(), b.parameters.size());
  for (std::size_t i = 0; i < a.parameters.size(); ++i) {
    EXPECT_EQ(a.parameters[i].name, b.parameters[i].name);
    EXPECT_EQ(a.parameters[i].value, b.parameters[i].value);
    EXPECT_EQ(a.parameters[i].distribution, b.parameters[i].distribution);
  }
  ASSERT_EQ(a.reports.size(), b.reports.size());
  for (const auto& [step, value] : a.reports)
    EXPECT_TRUE(b.reports.contains(step) && same_number(value, b.reports.at(step))) << step;
  const auto text = [](const std::map<std::string, Json>& attributes) {
    return to_python_json(Json(attributes));
  };
  EXPECT_EQ(text(a.user_attributes), text(b.user_attributes));
  EXPECT_EQ(text(a.system_attributes), text(b.system_attributes));
}

void check_keeps_trials_of_every_kind(const OpenStorage& open) {
  const auto storage = open();
  const Study study =
      storage->create_study("every kind", {Direction::maximize, Direction::minimize});
  std::vector<Trial> written;
  for (const TrialState state : {TrialState::running, TrialState::complete, TrialState::pruned,
                                 TrialState::fail, TrialState::waiting}) {
    Trial trial = full_trial(state);
    if (state == TrialState::complete) trial.values = {kInfinite, -kInfinite};
    if (state == TrialState::pruned) trial.values = {0.1, -1e300};
    written.push_back(storage->create_trial(study.id, trial));
    EXPECT_EQ(written.back().start.empty(), state == TrialState::waiting);
    EXPECT_EQ(written.back().end.empty(), !is_finished(state));
  }
  Trial dated = full_trial(TrialState::complete);
  dated.values = {5e-324, 0};
  dated.start = "2001-02-03 04:05:06.789010";
  dated.end = "2001-02-03 04:05:07.000000";
  written.push_back(storage->create_trial(study.id, dated));
  storage->set_study_attribute(study.id, AttributeOwner::system, "study:metric_names", {"a", "b"});
  storage->set_study_attribute(study.id, AttributeOwner::user, "note", 1);
  storage->set_study_attribute(study.id, AttributeOwner::user, "note", "the last one stays");

  const auto again = open();
  const Study found = again->find_study("every kind").value();
  EXPECT_EQ(found.id, study.id);
  EXPECT_EQ(found.directions, study.directions);
  EXPECT_EQ(found.user_attributes.at("note"), "the last one stays");
  EXPECT_TRUE(found.user_attributes.at("writer").get<std::string>().starts_with("hone "));
  EXPECT_EQ(found.system_attributes.at("study:metric_names"), Json({"a", "b"}));
  const std::vector<Trial> read = all_trials(*again, "every kind");
  ASSERT_EQ(read.size(), written.size());
  for (std::size_t i = 0; i < read.size(); ++i) {
    EXPECT_EQ(read[i].number, static_cast<std::int64_t>(i));
    expect_same(read[i], written[i]);
  }
  EXPECT_EQ(again->find_study("another"), std::nullopt);
}

void check_runs_a_trial_from_claim_to_end(const OpenStorage& open) {
  const auto storage = open();
  const std::int64_t study = new_study(*storage, "claim to end");
  Trial waiting = full_trial(TrialState::waiting);
  waiting.parameters.clear();
  waiting.reports.clear();
  storage->create_trial(study, waiting);
  EXPECT_FALSE(storage->claim_waiting(study + 1));
  const Trial claimed = storage->claim_waiting(study).value();
  EXPECT_EQ(claimed.number, 0);
  EXPECT_EQ(claimed.state, TrialState::running);
  EXPECT_FALSE(claimed.start.empty());
  EXPECT_EQ(claimed.system_attributes.at("fixed_params")["layers"], 4);
  EXPECT_FALSE(storage->claim_waiting(study)) << "it is claimed";

  const Trial full = full_trial(TrialState::running);
  storage->write(claimed.id, {full.parameters, {{1, 0.5}}, {{"epoch", 1}}, {}});
  storage->write(claimed.id, {full.parameters, {{1, 0.75}, {2, kNan}}, {{"epoch", 2}}, {}});
  storage->finish(claimed.id, {TrialState::pruned, {0.25}, {.system_attributes = {{"rung", 1}}}});
  const Trial read = all_trials(*open(), "claim to end").at(0);
  EXPECT_EQ(read.state, TrialState::pruned);
  EXPECT_EQ(read.values, std::vector<double>{0.25});
  EXPECT_EQ(read.reports.at(1), 0.5) << "a step that has a report keeps it";
  EXPECT_TRUE(std::isnan(read.reports.at(2)));
  EXPECT_EQ(read.user_attributes.at("epoch"), 2) << "an attribute is replaced";
  EXPECT_EQ(read.system_attributes.at("rung"), 1);
  EXPECT_EQ(read.parameters.size(), full.parameters.size());
  EXPECT_LE(read.start, read.end);

  // A trial that is enqueued later is found, although nothing waited before. The lowest number comes first.
  storage->create_trial(study, waiting);
  storage->create_trial(study, waiting);
  EXPECT_EQ(storage->claim_waiting(study).value().number, 1);
  EXPECT_EQ(open()->claim_waiting(study).value().number, 2);
}

void check_writes_nothing_to_finished_trials(const OpenStorage& open) {
  const auto storage = open(), other = open();
  const std::int64_t study = new_study(*storage, "finished");
  const Trial trial = storage->create_trial(study, {});
  other->finish(trial.id, {TrialState::fail, {}, {.user_attributes = {{"by", "the other"}}}});
  EXPECT_THROW(storage->write(trial.id, {.user_attributes = {{"by", "us"}}}), FinishedTrialError);
  EXPECT_THROW(storage->finish(trial.id, {TrialState::complete, {1}, {.reports = {{1, 1}}}}),
               FinishedTrialError);
  expect_user_error("trial 0 is already FAIL", [&] { storage->write(trial.id, {}); });
  expect_user_error("no longer exists", [&] { storage->write(trial.id + 99, {}); });
  const Trial read = all_trials(*storage, "finished").at(0);
  EXPECT_EQ(read.state, TrialState::fail);
  EXPECT_TRUE(read.values.empty() && read.reports.empty());
  EXPECT_EQ(read.user_attributes.at("by"), "the other");

  // An update that fails changes nothing.
  const Trial second = storage->create_trial(study, {});
  expect_user_error("at most 512", [&] {
    storage->finish(second.id, {.values = {1},
                                .change = {.reports = {{1, 1}},
                                           .user_attributes = {{std::string(513, 'k'), 1}}}});
  });
  expect_same(all_trials(*storage, "finished").at(1), second);
}

void check_keeps_pointers_to_what_is_finished(const OpenStorage& open) {
  const auto storage = open(), other = open();
  const std::int64_t study = new_study(*storage, "pointers");
  for (int i = 0; i < 3; ++i) run_one(*storage, storage->create_trial(study, {}), i / 10.0);
  const Trial running = storage->create_trial(study, {});
  storage->create_trial(study, full_trial(TrialState::waiting));
  std::vector<std::shared_ptr<const Trial>> trials;
  storage->read_trials(study, trials);
  ASSERT_EQ(trials.size(), 5u);
  const std::vector<std::shared_ptr<const Trial>> before = trials;

  other->write(running.id, {.reports = {{1, 0.5}}});
  const Trial claimed = other->claim_waiting(study).value();
  run_one(*other, other->create_trial(study, {}), 0.9);
  storage->read_trials(study, trials);
  ASSERT_EQ(trials.size(), 6u);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(trials[i], before[i]);
  EXPECT_EQ(trials[3]->reports.at(1), 0.5);
  EXPECT_EQ(trials[4]->state, TrialState::running);
  EXPECT_EQ(trials[5]->values.at(0), 0.9);
  EXPECT_EQ(before[4]->state, TrialState::waiting) << "what was read stays as it was";

  run_one(*other, running, 0.7);
  run_one(*other, claimed, 0.8);
  storage->read_trials(study, trials);
  EXPECT_EQ(trials[3]->values.at(0), 0.7);
  EXPECT_EQ(trials[4]->values.at(0), 0.8);
  const std::vector<Trial> anew = all_trials(*open(), "pointers");
  ASSERT_EQ(anew.size(), trials.size());
  for (std::size_t i = 0; i < anew.size(); ++i) expect_same(anew[i], *trials[i]);
}

void check_knows_who_is_silent(const OpenStorage& open) {
  const auto storage = open();
  const std::int64_t study = new_study(*storage, "silent");
  const Trial beating = storage->create_trial(study, {}),
              finished = storage->create_trial(study, {});
  storage->create_trial(study, {});  // never sent a heartbeat
  storage->record_heartbeat(beating.id);
  storage->record_heartbeat(finished.id);
  storage->finish(finished.id, {.values = {1}});
  EXPECT_TRUE(storage->stale_trials(study, 30).empty());
  // Times come from the storage's clock, with a resolution of a second.
  const std::vector<LostTrial> silent = storage->stale_trials(study, -2);
  ASSERT_EQ(silent.size(), 1u);
  EXPECT_EQ(silent[0].id, beating.id);
  EXPECT_EQ(silent[0].number, beating.number);
}

void check_keeps_studies_apart(const OpenStorage& open) {
  const auto storage = open();
  const std::int64_t a = new_study(*storage, "apart a"), b = new_study(*storage, "apart b");
  expect_user_error("a study 'apart a' exists already", [&] { new_study(*storage, "apart a"); });
  for (const std::int64_t study : {a, b, a, b})
    run_one(*storage, storage->create_trial(study, {}), 0.5);
  for (const std::string name : {"apart a", "apart b"}) {
    const std::vector<Trial> trials = all_trials(*storage, name);
    ASSERT_EQ(trials.size(), 2u);
    EXPECT_EQ(trials[1].number, 1);
  }
  // A trial created for a given number gets that number or is not created.
  Trial numbered;
  numbered.number = 1;
  EXPECT_EQ(storage->create_numbered_trial(b, numbered), std::nullopt);
  numbered.number = 2;
  EXPECT_EQ(storage->create_numbered_trial(b, numbered).value().number, 2);
  storage->record_heartbeat(storage->create_trial(a, full_trial(TrialState::running)).id);
  storage->delete_study(a);
  EXPECT_EQ(storage->find_study("apart a"), std::nullopt);
  EXPECT_EQ(all_trials(*storage, "apart b").size(), 3u);
  expect_user_error("no longer exists", [&] { storage->create_trial(a, {}); });
  std::set<std::string> names;
  for (const Study& study : storage->studies()) names.insert(study.name);
  EXPECT_TRUE(names.contains("apart b") && !names.contains("apart a"));
}

void check_begins_studies_whole(const OpenStorage& open) {
  const auto storage = open();
  StudyStart start{.user_attributes = {{"identity", {{"seed", 1}}}, {"writer", "another"}},
                   .system_attributes = {{"study:metric_names", Json::array({"a"})}},
                   .trials = {full_trial(TrialState::waiting), full_trial(TrialState::complete)}};
  start.trials[1].values = {kInfinite};
  const Study made = storage->create_study("begins whole", {Direction::maximize}, start);
  EXPECT_EQ(made.user_attributes, start.user_attributes);
  const Study found = open()->find_study("begins whole").value();
  EXPECT_EQ(found.directions, std::vector<Direction>{Direction::maximize});
  EXPECT_EQ(found.user_attributes, start.user_attributes);
  EXPECT_EQ(found.system_attributes, start.system_attributes);
  const std::vector<Trial> trials = all_trials(*open(), "begins whole");
  ASSERT_EQ(trials.size(), 2u);
  for (std::size_t i = 0; i < 2; ++i) {
    Trial expected = start.trials[i];
    expected.id = trials[i].id;
    expected.number = static_cast<std::int64_t>(i);
    expected.start = trials[i].start;
    expected.end = trials[i].end;
    expect_same(trials[i], expected);
  }
  EXPECT_TRUE(trials[0].start.empty());
  EXPECT_FALSE(trials[1].start.empty() || trials[1].end.empty());
  EXPECT_EQ(storage->claim_waiting(made.id).value().number, 0);
  EXPECT_EQ(storage->create_trial(made.id, {}).number, 2);

  // The last statement of many fails.
  start.trials[1].system_attributes[std::string(513, 'k')] = 1;
  expect_user_error("at most 512",
                    [&] { storage->create_study("begins not", {Direction::maximize}, start); });
  EXPECT_FALSE(open()->find_study("begins not"));
  EXPECT_TRUE(storage->create_study("begins not", {Direction::minimize}).id >= 0);
  EXPECT_TRUE(all_trials(*storage, "begins not").empty());
}

void check_takes_names_of_512_characters(const OpenStorage& open) {
  const auto storage = open();
  std::string name;
  for (int i = 0; i < 512; ++i) name += "é";
  const std::int64_t study = new_study(*storage, name);
  const Trial trial = storage->create_trial(study, {});
  storage->write(trial.id, {.parameters = {{name, real_values(0, 1), 0.5}},
                            .user_attributes = {{name, name}}});
  EXPECT_EQ(all_trials(*open(), name).at(0).parameters.at(0).name, name);
  expect_user_error("expected at most 512 characters, got 513",
                    [&] { new_study(*storage, name + "x"); });
  expect_user_error("expected text in UTF-8", [&] { new_study(*storage, "\xff"); });
  expect_user_error("parameter 'é", [&] {
    storage->write(trial.id, {.parameters = {{name + "x", real_values(0, 1), 0.5}}});
  });
}

void check_claims_once(const OpenStorage& open, int processes, int queue, int more) {
  constexpr const char* kName = "claims once";
  const auto fixed = [](int entry) {
    return std::map<std::string, Json>{{"fixed_params", {{"x", entry}}}};
  };
  {
    const auto storage = open();
    const std::int64_t study = new_study(*storage, kName);
    Trial waiting;
    waiting.state = TrialState::waiting;
    for (int i = 0; i < queue; ++i) {
      waiting.system_attributes = fixed(i);
      storage->create_trial(study, waiting);
    }
  }
  in_processes(processes, [&](int process) {
    const auto storage = open();
    const std::int64_t study = storage->find_study(kName).value().id;
    while (const auto trial = storage->claim_waiting(study, {{"process", process}})) {
      EXPECT_EQ(trial->user_attributes.at("process"), process);
      run_one(*storage, *trial, 0.5);
    }
    for (int i = 0; i < more; ++i) run_one(*storage, storage->create_trial(study, {}), 0.25);
    storage->close();
  });
  const std::vector<Trial> trials = all_trials(*open(), kName);
  ASSERT_EQ(trials.size(), static_cast<std::size_t>(queue + processes * more));
  for (std::size_t i = 0; i < trials.size(); ++i) {
    EXPECT_EQ(trials[i].number, static_cast<std::int64_t>(i));
    EXPECT_EQ(trials[i].state, TrialState::complete);
    EXPECT_EQ(trials[i].parameters.size(), 3u);
  }
}

void check_loses_only_what_a_killed_worker_ran(const OpenStorage& open, int kills) {
  constexpr const char* kName = "killed";
  const std::int64_t study = new_study(*open(), kName);
  for (int kill = 0; kill < kills; ++kill) {
    const pid_t worker = ::fork();
    if (worker == 0) {
      const auto storage = open();
      for (;;) run_one(*storage, storage->create_trial(study, {}), 0.5);
    }
    // The moments are spread over the time of several trials.
    std::this_thread::sleep_for(std::chrono::microseconds(5000 + kill * 7919 % 30'000));
    ::kill(worker, SIGKILL);
    ::waitpid(worker, nullptr, 0);
    int running = 0;
    const std::vector<Trial> trials = all_trials(*open(), kName);
    for (std::size_t i = 0; i < trials.size(); ++i) {
      ASSERT_EQ(trials[i].number, static_cast<std::int64_t>(i));
      const bool whole = trials[i].state == TrialState::complete;
      running += whole ? 0 : 1;
      EXPECT_EQ(trials[i].values.size(), whole ? 1u : 0u);
      EXPECT_EQ(trials[i].reports.size(), whole ? 1u : 0u);
      EXPECT_TRUE(!whole || trials[i].parameters.size() == 3);
    }
    ASSERT_LE(running, kill + 1);
  }
}

}  // namespace hone::testing
