#pragma once

#include "hone/search/engine/trial_table.h"

/// Recovery of trials whose worker died or was interrupted: they fail, and a waiting copy of each is run again. The
/// copy is created once, however many workers notice. Copies have the system attributes of Optuna's retries:
/// `failed_trial` (a number) and `retry_history` (a list of numbers).
namespace hone {

/// The system attribute of a failed trial that needs a copy: kLost, or kInterrupted.
inline constexpr const char* kRunAgain = "run_again";
inline constexpr const char* kLost = "lost";
inline constexpr const char* kInterrupted = "interrupted";

/// Returns the identity of this process, stored in a trial's user attribute `worker`: host, boot and process, so that
/// other processes of the same machine can check whether it is alive.
Json current_worker();
/// Returns whether a worker is a process of this machine and PID namespace that has ended. False if it is alive, or
/// elsewhere.
bool is_dead(const Json& worker);

/// Returns the end of a lost trial; `retried` says whether it gets a copy.
TrialEnd end_of_lost(const Trial& trial, bool retried);
TrialEnd end_of_interrupted();

/// Returns how often a trial and the trials that it is a copy of were lost.
std::int64_t times_lost(const TrialTable& table, const Trial& trial);

/// Returns a waiting copy, with the next number, of the first trial that needs one and has none. None: no copy is
/// needed.
std::optional<Trial> next_missing_copy(const TrialTable& table);

/// Returns a trial with the values of another one, as fixed values; with `reports`, also its reports and rungs, to
/// continue it.
Trial copy_of(const Trial& trial, bool reports);

}  // namespace hone
