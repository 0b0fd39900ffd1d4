#pragma once

#include "hone/search/engine/trial_table.h"

/// Trials whose worker no longer lives, or was interrupted: they fail, and a waiting copy of each is run again, made once however many
/// workers see that it is owed. Copies are called what Optuna's retries are: `failed_trial` (a number) and `retry_history` (a list of
/// them) among their system attributes.
namespace hone {

/// The system attribute of a failed trial of which a copy is owed: kLost, or kInterrupted.
inline constexpr const char* kRunAgain = "run_again";
inline constexpr const char* kLost = "lost";
inline constexpr const char* kInterrupted = "interrupted";

/// Who runs a trial, kept as its user attribute `worker`: host, boot and process, so that another process of the same machine sees
/// whether it still lives.
Json this_worker();
/// Whether a worker is a process of this machine, in sight of this process, that has ended. False: it lives, or it is elsewhere.
bool is_dead(const Json& worker);

/// How a lost trial ends; `retried` says whether a copy is owed.
TrialEnd end_of_lost(const Trial& trial, bool retried);
/// How an interrupted one ends.
TrialEnd end_of_interrupted();

/// How often a trial, and those that it is a copy of, were lost.
std::int64_t times_lost(const TrialTable& table, const Trial& trial);

/// The waiting copy, with the next number, that is owed of the first trial that has none yet. None: nothing is owed.
std::optional<Trial> owed_copy(const TrialTable& table);

/// A trial to be run with the values of another one, which are fixed; going on with the reports and rungs of that one where `reports`.
Trial copy_of(const Trial& trial, bool reports);

}  // namespace hone
