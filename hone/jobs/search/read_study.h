#pragma once

#include <string>
#include <vector>

#include "hone/jobs/search/study_figures.h"
#include "hone/search/engine/trial_table.h"
#include "hone/search/storage/storage.h"

namespace hone {

/// A study of a storage with its trials, at the time it was read.
struct LoadedStudy {
  Study study;
  TrialTable trials = {};
  DescribedStudy shown = {};  ///< of these trials

  /// Returns the direction of the first objective.
  const Direction& direction() const { return study.directions.at(0); }
};

LoadedStudy read_study(StudyStorage& storage, Study study);
/// Reads the studies with these names, or all. Throws `UserError` for a missing one, with the names of existing ones.
/// `where` is the name of the storage.
std::vector<LoadedStudy> read_studies(StudyStorage& storage, const std::string& where,
                                      const std::vector<std::string>& names);
/// Reads its trials again.
void read_trials(StudyStorage& storage, LoadedStudy& read);

/// Returns the time of the last activity; empty if there was none.
std::string last_time(const LoadedStudy& study);

/// Returns the current path of a storage: a running search keeps it in another folder until it is done.
std::string current_storage_path(const std::string& storage);

}  // namespace hone
