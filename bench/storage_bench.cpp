// Measures how many trials per second a storage of studies handles, and checks that workers share them correctly.
//
//     storage_bench --storage STORAGE [--workers N] [--trials N] [--join STUDY]
//
// STORAGE is an SQLite file or postgresql://USER@HOST/DATABASE. Workers, each a process of this program, run trials of
// three parameters that compute nothing: first trials that they create, then as many from a queue. A trial is read,
// claimed or created, written to and finished, as in a search. The studies are deleted at the end, and so is the file
// unless it existed before. With --join this process is one more worker of that study. Prints JSON.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <ctime>
#include <memory>
#include <optional>
#include <thread>

#include "hone/base/error.h"
#include "hone/base/file.h"
#include "hone/base/interrupt.h"
#include "hone/base/own_process.h"
#include "hone/search/storage/storage.h"
#include "hone/study/result.h"

namespace hone {
namespace {

struct StorageBenchJob {
  std::string storage;         ///< as for `open_storage`
  std::int64_t workers = 4;    ///< processes that run trials at once
  std::int64_t trials = 1000;  ///< of all workers together, of either kind
  std::string join = {};  ///< the study that this process is a worker of; empty: it starts workers
};

// Counts of one worker.
struct Share {
  std::int64_t ran = 0;    ///< trials it evaluated
  std::int64_t taken = 0;  ///< of these, finished by another worker before
};

// Results of all workers on one study.
struct Round {
  std::string kind;  ///< "made" or "queued"
  std::int64_t trials = 0;
  double seconds = 0;  ///< from the first claim to the last end
  std::int64_t evaluated_twice = 0;
  std::int64_t left_waiting = 0;
  double least_share = 0;  ///< the share of trials of the worker that ran fewest

  double trials_per_s() const { return static_cast<double>(trials) / seconds; }
};

constexpr const char* kMade = "made";
constexpr const char* kQueued = "queued";

Share work(StudyStorage& storage, const std::string& name, std::int64_t trials) {
  const std::optional<Study> study = storage.find_study(name);
  user_check(study.has_value(),
             "no study is called '{}' there; `storage_bench` without --join makes them", name);
  const bool queued = study->user_attributes.contains(kQueued);
  const Distribution x = real_values(0, 1), y = integer_values(0, 9), z = choice_of({"a", "b"});
  std::vector<std::shared_ptr<const Trial>> known;
  Share share;
  while (queued || share.ran < trials) {
    stop_if_interrupted();
    storage.read_trials(study->id, known);
    std::optional<Trial> trial = storage.claim_waiting(study->id);
    if (!trial && queued) break;
    if (!trial) trial = storage.create_trial(study->id, {});
    const double number = static_cast<double>(trial->number), value = number / (1 + number);
    storage.write(trial->id, {.parameters = {{"x", x, value}, {"y", y, 3}, {"z", z, 1}}});
    ++share.ran;
    try {
      storage.finish(trial->id, {.values = {value}});
    } catch (const FinishedTrialError&) {
      ++share.taken;
    }
  }
  return share;
}

// Starts the workers of a study and waits for them.
std::vector<Share> run_workers(const StorageBenchJob& job, const std::string& study) {
  std::vector<CommandResult> endings(job.workers);
  std::vector<std::thread> threads;
  for (std::int64_t i = 0; i < job.workers; ++i)
    threads.emplace_back([&, i] {
      const std::int64_t own = job.trials / job.workers + (i < job.trials % job.workers ? 1 : 0);
      endings[i] = run_own_command(
          {"--storage", job.storage, "--join", study, "--trials", std::to_string(own)},
          fs::current_path());
    });
  for (std::thread& thread : threads) thread.join();
  stop_if_interrupted();
  std::vector<Share> shares;
  for (const CommandResult& ending : endings) {
    user_check(ending.code == 0, "a worker failed: {}", ending.error);
    const Json result = parse_json(ending.output, "the output of a worker");
    shares.push_back({result.at("ran"), result.at("taken")});
  }
  return shares;
}

// Returns the seconds since 1970 of "2026-11-25 03:00:59.123456".
double seconds_of(const std::string& time) {
  std::tm parts = {};
  const char* fraction = ::strptime(time.c_str(), "%Y-%m-%d %H:%M:%S", &parts);
  HONE_ASSERT(fraction != nullptr, "'{}' is not a time", time);
  return static_cast<double>(::timegm(&parts)) + std::atof(fraction);
}

Round measure(StudyStorage& storage, std::int64_t study, const std::string& kind,
              const std::vector<Share>& shares) {
  std::vector<std::shared_ptr<const Trial>> trials;
  storage.read_trials(study, trials);
  Round round{.kind = kind};
  std::string first, last;
  for (const auto& trial : trials) {
    if (trial->state == TrialState::waiting) ++round.left_waiting;
    if (!is_finished(trial->state)) continue;
    ++round.trials;
    first = first.empty() ? trial->start : std::min(first, trial->start);
    last = std::max(last, trial->end);
  }
  user_check(round.trials > 0, "no worker finished a trial; give more --trials");
  round.seconds = seconds_of(last) - seconds_of(first);
  std::int64_t ran = 0, fewest = shares.front().ran;
  for (const Share& share : shares) {
    ran += share.ran;
    fewest = std::min(fewest, share.ran);
  }
  round.evaluated_twice = ran - round.trials;
  round.least_share = static_cast<double>(fewest) / static_cast<double>(round.trials);
  return round;
}

Round run_round(StudyStorage& storage, const StorageBenchJob& job, const std::string& kind) {
  const std::string name = fmt::format("hone bench {} {} {}", kind, utc_now(), ::getpid());
  const std::int64_t study = storage.create_study(name, {Direction::minimize}).id;
  const auto remove = [&](const void*) { storage.delete_study(study); };
  const std::unique_ptr<const void, decltype(remove)> removed(&name, remove);
  if (kind == kQueued) {
    storage.set_study_attribute(study, AttributeOwner::user, kQueued, true);
    Trial waiting;
    waiting.state = TrialState::waiting;
    for (std::int64_t i = 0; i < job.trials; ++i) {
      waiting.system_attributes = {{"fixed_params", {{"x", i}}}};
      storage.create_trial(study, waiting);
    }
  }
  return measure(storage, study, kind, run_workers(job, name));
}

// Removes the storage's file at the end, once it is closed, unless it existed before.
class NewFile {
 public:
  explicit NewFile(const std::string& storage) {
    const std::string prefix = "sqlite:///";
    const fs::path path = storage.starts_with(prefix) ? storage.substr(prefix.size()) : storage;
    if (storage.find("://") == std::string::npos || storage.starts_with(prefix))
      if (!path_exists(path)) path_ = fs::absolute(path);
  }
  ~NewFile() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove(path_, ignored);
  }
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

 private:
  fs::path path_;
};

Json result_of_worker(const StorageBenchJob& job) {
  const auto storage = open_storage(job.storage, /*must_exist=*/true);
  const Share share = work(*storage, job.join, job.trials);
  storage->close();
  return {{"ran", share.ran}, {"taken", share.taken}};
}

Json bench_storage(const StorageBenchJob& job) {
  if (!job.join.empty()) return result_of_worker(job);
  const NewFile file(job.storage);
  Json rows = Json::array();
  const auto storage = open_storage(job.storage);
  for (const char* kind : {kMade, kQueued}) {
    const Round round = run_round(*storage, job, kind);
    rows.push_back({{"kind", round.kind},
                    {"trials", round.trials},
                    {"seconds", round.seconds},
                    {"trials_per_s", round.trials_per_s()},
                    {"evaluated_twice", round.evaluated_twice},
                    {"left_waiting", round.left_waiting},
                    {"least_share", round.least_share}});
  }
  storage->close();
  return {{"what", "storage"}, {"workers", job.workers}, {"rounds", rows}};
}

int run(int argc, char** argv) {
  StorageBenchJob job;
  CLI::App app("Time trials in a storage of studies, with several processes");
  app.add_option("--storage", job.storage, "SQLite file or postgresql:// address")->required();
  app.add_option("--workers", job.workers, "number of worker processes")
      ->check(CLI::PositiveNumber);
  app.add_option("--trials", job.trials, "number of trials")->check(CLI::PositiveNumber);
  app.add_option("--join", job.join, "join this study as one more worker");
  CLI11_PARSE(app, argc, argv);
  try {
    fmt::print("{}\n", to_line(result_of("bench", bench_storage(job))));
    return 0;
  } catch (const std::exception& error) {
    if (!report_failure(error.what())) fmt::print(stderr, "error: {}\n", error.what());
    return 1;
  }
}

}  // namespace
}  // namespace hone

int main(int argc, char** argv) {
  hone::catch_interrupts(/*tell=*/!hone::is_own_command());
  return hone::run(argc, argv);
}
