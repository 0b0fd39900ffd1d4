#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>

#include "tests/search/search_runs.h"
#include "tests/search/storage_checks.h"
#include "tests/support/expect.h"

/// Searches by several processes on one file.
namespace hone::testing {
namespace {

// Draws only by number and name, so that the engine dominates the time.
class NumberSampler : public Sampler {
 public:
  double draw(const StudyView&, const Trial& trial, const std::string& name,
              const Distribution& d) override {
    RandomSequence random(static_cast<std::uint64_t>(trial.number), stream_of(name));
    return d.low + (d.high - d.low) * random.uniform();
  }
};

TrialOutcome reported_value(TrialRun& run) {
  run.report(1, square_sum(run.trial()));
  return value_of(run);
}

// Starts a process that searches until nothing is left to do. Its exit code is 0 on success.
pid_t begin_worker(const fs::path& file, const SearchOptions& options) {
  const pid_t worker = ::fork();
  if (worker != 0) return worker;
  int code = 1;
  try {
    const auto storage = open_storage(file.string());
    NumberSampler sampler;
    run_search(*storage, sampler, *no_pruner(), reported_value, options);
    storage->close();
    code = 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "worker: %s\n", error.what());
  }
  ::_exit(code);
}

int end_of(pid_t worker) {
  int status = 0;
  ::waitpid(worker, &status, 0);
  return status;
}

// Returns the point of a trial. A trial that was killed before its parameters were written has its fixed values.
std::string point_of(const Trial& trial) {
  if (!trial.parameters.empty()) return key_of(trial.parameters);
  Assignment fixed;
  for (const auto& [name, value] : trial.system_attributes.at("fixed_params").items())
    fixed[name] = value;
  return key_of(real_space().parameters_of(fixed));
}

// Returns trials per second, from the first claim to the last end.
double search_in_processes(int processes, int queue, const SearchOptions& options) {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "study.db";
  {
    const auto storage = open_storage(file.string());
    const Study study = storage->create_study(options.study, options.directions);
    for (int i = 0; i < queue; ++i) {
      Trial waiting{.state = TrialState::waiting};
      waiting.system_attributes["fixed_params"] = {{"x", i * 5.0 / queue}, {"y", 0.5}};
      storage->create_trial(study.id, waiting);
    }
  }
  const auto start = std::chrono::steady_clock::now();
  std::vector<pid_t> workers;
  for (int i = 0; i < processes; ++i) workers.push_back(begin_worker(file, options));
  for (const pid_t worker : workers) EXPECT_EQ(end_of(worker), 0);
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();

  const std::vector<Trial> trials = all_trials(*open_storage(file.string()), options.study);
  EXPECT_EQ(trials.size(), static_cast<std::size_t>(options.trials));
  for (std::size_t i = 0; i < trials.size(); ++i) {
    EXPECT_EQ(trials[i].number, static_cast<std::int64_t>(i));
    EXPECT_EQ(trials[i].state, TrialState::complete);
    EXPECT_EQ(trials[i].reports.size(), 1u);
    if (static_cast<int>(i) >= queue) continue;
    EXPECT_EQ(trials[i].parameters[0].value, static_cast<double>(i) * 5.0 / queue);
  }
  return static_cast<double>(trials.size()) / seconds;
}

TEST(SearchInProcesses, RunsEachTrialOnce) {
  search_in_processes(4, 20, {.study = "s", .space = real_space(), .concurrency = 4, .trials = 40});
}

TEST(SearchInProcesses, LongRunsSixteenHundredTrialsInEightProcesses) {
  SearchOptions options{.study = "s", .space = real_space(), .concurrency = 8, .trials = 1600};
  for (const bool asynchronous : {false, true}) {
    options.asynchronous = asynchronous;
    const double rate = search_in_processes(8, 800, options);
    std::printf("%s: %.0f trials/s\n", asynchronous ? "asynchronous" : "reproducible", rate);
    RecordProperty(asynchronous ? "asynchronous_trials_per_second" : "trials_per_second",
                   fmt::format("{:.0f}", rate));
  }
}

TEST(SearchInProcesses, LongLosesOnlyWhatAKilledWorkerRan) {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "study.db";
  const SearchOptions options{
      .study = "s", .space = real_space(), .concurrency = 2, .trials = 600, .retries = 100};
  // The study exists before the first worker can be killed.
  open_storage(file.string())->create_study("s", options.directions);
  for (int kill = 0; kill < 50; ++kill) {
    const pid_t worker = begin_worker(file, options);
    std::this_thread::sleep_for(std::chrono::microseconds(5000 + kill * 7919 % 40'000));
    ::kill(worker, SIGKILL);
    end_of(worker);
  }
  // Two workers complete the rest and recover lost trials at the same time.
  const pid_t workers[] = {begin_worker(file, options), begin_worker(file, options)};
  for (const pid_t worker : workers) EXPECT_EQ(end_of(worker), 0);
  const std::vector<Trial> trials = all_trials(*open_storage(file.string()), "s");
  std::map<std::int64_t, std::vector<std::string>> copies;  // by the trial that they copy last
  std::size_t complete = 0;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    ASSERT_EQ(trials[i].number, static_cast<std::int64_t>(i));
    complete += trials[i].state == TrialState::complete ? 1 : 0;
    if (const auto history = trials[i].system_attributes.find("retry_history");
        history != trials[i].system_attributes.end())
      copies[history->second.back().get<std::int64_t>()].push_back(point_of(trials[i]));
  }
  EXPECT_EQ(complete, 600u);
  EXPECT_GT(trials.size(), 600u) << "no worker was killed while it ran a trial";
  EXPECT_LE(trials.size(), 650u);
  for (const Trial& trial : trials)
    if (trial.state != TrialState::complete) {
      EXPECT_EQ(trial.state, TrialState::fail);
      ASSERT_EQ(copies[trial.number].size(), 1u);
      EXPECT_EQ(copies[trial.number][0], point_of(trial));
    }
}

}  // namespace
}  // namespace hone::testing
