#pragma once

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
/// Brings its trials up to now.
void read_trials(StudyStorage& storage, ReadStudy& read);

}  // namespace hone
