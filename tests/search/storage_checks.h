#pragma once

#include <functional>

#include "hone/search/storage/storage.h"

/// What holds of a storage wherever it lies. Each check begins with a storage in which its studies are not yet.
namespace hone::testing {

/// Opens one and the same storage anew.
using OpenStorage = std::function<std::unique_ptr<StudyStorage>()>;

/// All of one study, read anew.
std::vector<Trial> all_trials(StudyStorage& storage, const std::string& study);
/// NaN equals NaN; attributes and distributions included.
void expect_same(const Trial& a, const Trial& b);

/// A trial with something of everything but values.
Trial full_trial(TrialState state);

void check_keeps_trials_of_every_kind(const OpenStorage& open);
void check_runs_a_trial_from_claim_to_end(const OpenStorage& open);
void check_writes_nothing_to_finished_trials(const OpenStorage& open);
void check_keeps_pointers_to_what_is_finished(const OpenStorage& open);
void check_knows_who_is_silent(const OpenStorage& open);
void check_keeps_studies_apart(const OpenStorage& open);
/// A study has its attributes and trials with its name, or nothing of it is there.
void check_begins_studies_whole(const OpenStorage& open);
void check_takes_names_of_512_characters(const OpenStorage& open);
/// So many processes share a queue and then make trials of their own.
void check_claims_once(const OpenStorage& open, int processes, int queue, int more);
/// A worker is killed again and again, each time at another moment: what it had not finished still runs, all else is whole.
void check_loses_only_what_a_killed_worker_ran(const OpenStorage& open, int kills);

}  // namespace hone::testing
