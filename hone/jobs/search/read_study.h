#pragma once

#include <string>
#include <vector>

#include "hone/jobs/search/study_figures.h"
#include "hone/search/engine/trial_table.h"
#include "hone/search/storage/storage.h"

namespace hone {

/// A study of a storage with its trials, as they stood when it was read.
struct ReadStudy {
  Study study;
  TrialTable trials = {};
  ShownStudy shown = {};  ///< of these trials

  /// Where a single one is meant.
  const Direction& direction() const { return study.directions.at(0); }
};

ReadStudy read_study(StudyStorage& storage, Study study);
/// Those of these names, or all. Throws `UserError`, naming those that are there, for one that is not; `where` is the storage.
std::vector<ReadStudy> read_studies(StudyStorage& storage, const std::string& where,
                                    const std::vector<std::string>& names);
/// Brings its trials up to now.
void read_trials(StudyStorage& storage, ReadStudy& read);

/// When something last happened; empty: nothing has.
std::string last_time(const ReadStudy& study);

/// Where a storage is now: that of a search that runs lies in another folder until it is done.
std::string storage_now(const std::string& storage);

}  // namespace hone
