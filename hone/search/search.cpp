#include "hone/search/search.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include <fmt/ranges.h>

#include "hone/base/interrupt.h"
#include "hone/base/periodic.h"
#include "hone/search/engine/proposal.h"
#include "hone/search/engine/recovery.h"
#include "hone/search/engine/trial_run.h"

namespace hone {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Pause between two reads of the storage: an eighth of the time waited so far, but short enough that an interrupted
// worker does not seem to hang.
class Pause {
 public:
  void rest() const {
    constexpr double kShortest = 0.001, kLongest = 0.2;
    std::this_thread::sleep_for(
        std::chrono::duration<double>(std::clamp(seconds_since(start_) / 8, kShortest, kLongest)));
  }

 private:
  Clock::time_point start_ = Clock::now();
};

Study study_of(StudyStorage& storage, const SearchOptions& options) {
  std::optional<Study> study = storage.find_study(options.study);
  if (!study) {
    try {
      return storage.create_study(options.study, options.directions);
    } catch (const UserError&) {
      // Another worker has just created it; any other failure recurs.
      study = storage.find_study(options.study);
      if (!study) throw;
    }
  }
  const auto words = [](const std::vector<Direction>& directions) {
    std::vector<std::string_view> words;
    for (const Direction direction : directions) words.push_back(enum_name(direction));
    return fmt::format("{}", fmt::join(words, ", "));
  };
  user_check(study->directions == options.directions,
             "study '{}' has the objectives {}, this search has {}; continue with the "
             "objectives of the study, or use another name",
             options.study, words(study->directions), words(options.directions));
  return *study;
}

/// The state of one call of `run_search`.
class Worker {
 public:
  Worker(StudyStorage& storage, Sampler& sampler, const Pruner& pruner, const Objective& objective,
         const SearchOptions& options, const SearchCallbacks& callbacks)
      : storage_(storage),
        pruner_(pruner),
        objective_(objective),
        options_(options),
        callbacks_(callbacks),
        study_(study_of(storage, options)),
        proposer_(study_, sampler, pruner, options),
        worker_(current_worker()) {}

  SearchEnd run() {
    try {
      while (!reason_)
        if (std::optional<Trial> trial = next()) run_trial(std::move(*trial));
    } catch (const Interrupted&) {
      reason_ = EndReason::interrupted;
      read();
      create_missing_copies();
    }
    storage_.set_study_attribute(study_.id, AttributeOwner::user, "end_reason",
                                 enum_name(*reason_));
    return {*reason_, trials_};
  }

 private:
  void read() { storage_.read_trials(study_.id, table_); }
  void warn(const std::string& sentence) {
    if (callbacks_.on_warning) callbacks_.on_warning(sentence);
  }
  bool is_out_of_time() const {
    return options_.seconds > 0 && seconds_since(start_) >= options_.seconds;
  }

  // Returns the next trial of this worker, with its parameters. None: the end is reached, or the queued trial cannot
  // be run.
  std::optional<Trial> next() {
    for (Pause pause;; pause.rest()) {
      stop_if_interrupted();
      if (is_out_of_time()) {
        reason_ = EndReason::time;
        return std::nullopt;
      }
      sweep();
      create_missing_copies();
      if (has_waiting_trial()) {
        if (std::optional<Trial> claimed = storage_.claim_waiting(study_.id, {{"worker", worker_}}))
          return started(std::move(*claimed));
        continue;
      }
      if (!may_start(next_number(table_), /*draws=*/true)) continue;
      Proposal proposal = proposer_.propose(table_);
      if (!proposal.trial) {
        reason_ = proposal.end;
        return std::nullopt;
      }
      proposal.trial->user_attributes["worker"] = worker_;
      // None: another worker was faster, and the next number is taken.
      if (std::optional<Trial> made =
              storage_.create_numbered_trial(study_.id, std::move(*proposal.trial)))
        return made;
      pause = {};
    }
  }

  bool has_waiting_trial() const {
    for (const auto& trial : table_)
      if (trial->state == TrialState::waiting)
        return !proposer_.exceeds_budget(table_, trial->number);
    return false;
  }

  // Returns a claimed trial with its parameters, once the trials that it may know are ready. None: it cannot be run.
  std::optional<Trial> started(Trial trial) {
    bool complete = false;
    try {
      // Finished trials stay finished; only a trial that draws needs those since the last read.
      const bool draws = !proposer_.is_fixed(trial);
      if (draws || next_number(table_) <= trial.number) read();
      if (!may_start(trial.number, draws)) wait_for_others(trial, draws);
      proposer_.complete(table_, trial);
      complete = true;
      storage_.write(
          trial.id, {.parameters = trial.parameters, .system_attributes = trial.system_attributes});
      return trial;
    } catch (const Interrupted&) {
      finish(trial, end_of_interrupted());
      throw;
    } catch (const FinishedTrialError& error) {
      warn(error.what());
    } catch (const UserError& error) {
      if (complete) throw;
      TrialEnd end{.state = TrialState::fail};
      end.change.user_attributes["fail_reason"] = error.what();
      finish(trial, end);
      warn(fmt::format("trial {} was not run: {}", trial.number, error.what()));
    }
    return std::nullopt;
  }

  // Sends heartbeats for a running trial. Errors of the storage are left to the next write to the trial.
  Periodic start_heartbeat(std::int64_t trial) {
    return Periodic(options_.heartbeat_seconds,
                    [this, trial] { storage_.record_heartbeat(trial); });
  }

  void wait_for_others(const Trial& trial, bool draws) {
    const Periodic heartbeat = start_heartbeat(trial.id);
    for (Pause pause; !may_start(trial.number, draws); pause.rest()) {
      stop_if_interrupted();
      sweep();
    }
  }

  void run_trial(Trial trial) {
    const Periodic heartbeat = start_heartbeat(trial.id);
    const auto number = trial.number;
    StudyRun run(storage_, study_, pruner_, options_, table_, std::move(trial));
    try {
      const TrialEnd end = run.end_of(objective_);
      if (finish(run.trial(), end)) ++trials_;
    } catch (const Interrupted&) {
      finish(run.trial(), end_of_interrupted());
      throw;
    } catch (const FinishedTrialError& error) {
      warn(error.what());
      return;
    }
    if (!callbacks_.on_trial) return;
    read();
    StudyView all{.name = study_.name, .directions = study_.directions};
    for (const auto& other : table_) all.trials.push_back(other.get());
    if (const Trial* finished = trial_numbered(table_, number)) callbacks_.on_trial(*finished, all);
  }

  // Returns false if another worker considered this one dead, or also ran the trial.
  bool finish(const Trial& trial, const TrialEnd& end) {
    try {
      storage_.finish(trial.id, end);
      return true;
    } catch (const FinishedTrialError& error) {
      warn(error.what());
      return false;
    }
  }

  // Reads the table, and ends trials whose worker is gone: on this machine at once, on others after a long silence.
  void sweep() {
    read();
    const bool all = swept_ == Clock::time_point{} ||
                     seconds_since(swept_) >= std::min(options_.heartbeat_seconds, kSweepSeconds);
    if (!all) return;
    swept_ = Clock::now();
    std::vector<std::int64_t> lost;
    for (const LostTrial& silent : storage_.stale_trials(study_.id, 2 * options_.heartbeat_seconds))
      lost.push_back(silent.number);
    for (const auto& trial : table_)
      if (const auto worker = trial->user_attributes.find("worker");
          trial->state == TrialState::running && worker != trial->user_attributes.end() &&
          is_dead(worker->second))
        lost.push_back(trial->number);
    for (const std::int64_t number : lost) end_lost(number);
    if (!lost.empty()) read();
  }

  void end_lost(std::int64_t number) {
    const Trial* trial = trial_numbered(table_, number);
    if (trial == nullptr || trial->state != TrialState::running) return;
    const TrialEnd end = end_of_lost(*trial, times_lost(table_, *trial) <= options_.retries);
    try {
      storage_.finish(trial->id, end);
    } catch (const FinishedTrialError&) {
      return;  // it ended after all, or another worker ended it
    }
    const bool again = end.change.system_attributes.contains(kRunAgain);
    warn(fmt::format("trial {} failed: {}{}", number,
                     end.change.user_attributes.at("fail_reason").get<std::string>(),
                     again ? "; it is run again" : ""));
  }

  void create_missing_copies() {
    while (std::optional<Trial> copy = next_missing_copy(table_)) {
      // If the number is taken by now, another worker may have created the copy.
      storage_.create_numbered_trial(study_.id, std::move(*copy));
      read();
    }
  }

  bool may_start(std::int64_t number, bool draws) const {
    return options_.asynchronous ||
           may_begin(table_, number,
                     {options_.concurrency, draws, utc_before(2 * options_.heartbeat_seconds)});
  }

  static constexpr double kSweepSeconds = 5;

  StudyStorage& storage_;
  const Pruner& pruner_;
  const Objective& objective_;
  const SearchOptions& options_;
  const SearchCallbacks& callbacks_;
  Study study_;
  Proposer proposer_;
  Json worker_;
  TrialTable table_;
  std::optional<EndReason> reason_;
  std::int64_t trials_ = 0;  // run by this call
  Clock::time_point start_ = Clock::now();
  Clock::time_point swept_ = {};
};

}  // namespace

std::span<const EnumName> enum_names(EndReason) {
  static constexpr EnumName kWords[] = {{static_cast<int>(EndReason::trials), "trials"},
                                        {static_cast<int>(EndReason::time), "time"},
                                        {static_cast<int>(EndReason::plateau), "plateau"},
                                        {static_cast<int>(EndReason::exhausted), "exhausted"},
                                        {static_cast<int>(EndReason::interrupted), "interrupted"}};
  return kWords;
}

SearchEnd run_search(StudyStorage& storage, Sampler& sampler, const Pruner& pruner,
                     const Objective& objective, const SearchOptions& options,
                     const SearchCallbacks& callbacks) {
  return Worker(storage, sampler, pruner, objective, options, callbacks).run();
}

}  // namespace hone
