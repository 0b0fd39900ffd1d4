#pragma once

#include <functional>

#include "hone/search/storage/storage.h"

/// Checks for every kind of storage. Each check starts with a storage that lacks its studies.
namespace hone::testing {

/// Opens the same storage again.
using OpenStorage = std::function<std::unique_ptr<StudyStorage>()>;

/// Returns all trials of a study, freshly read.
std::vector<Trial> all_trials(StudyStorage& storage, const std::string& study);
/// Compares trials, including attributes and distributions. NaN equals NaN.
void expect_same(const Trial& a, const Trial& b);

/// Returns a trial with every field set except values.
Trial full_trial(TrialState state);

void check_keeps_trials_of_every_kind(const OpenStorage& open);
void check_runs_a_trial_from_claim_to_end(const OpenStorage& open);
void check_writes_nothing_to_finished_trials(const OpenStorage& open);
void check_keeps_pointers_to_what_is_finished(const OpenStorage& open);
void check_knows_who_is_silent(const OpenStorage& open);
void check_keeps_studies_apart(const OpenStorage& open);
/// Checks that a study is created with all its attributes and trials, or not at all.
void check_begins_studies_whole(const OpenStorage& open);
void check_takes_names_of_512_characters(const OpenStorage& open);
/// Lets several processes share a queue and then create trials of their own.
void check_claims_once(const OpenStorage& open, int processes, int queue, int more);
/// Kills a worker repeatedly at different moments. Unfinished trials remain running, and everything else is complete.
void check_loses_only_what_a_killed_worker_ran(const OpenStorage& open, int kills);

}  // namespace hone::testing
