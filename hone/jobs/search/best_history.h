#pragma once

#include "hone/jobs/search/study_figures.h"

namespace hone {

/// The values of a study of one objective by trial, and the best so far, against the number of trials and against what all trials
/// up to it took together. Repetitions are left out, what is not feasible is never the best. A point says what the trial is that it
/// is of.
struct BestHistory {
  Series values, by_trial, by_seconds;

  bool has_seconds() const;
};

BestHistory history_of(const ShownStudy& study, const std::string& label);

}  // namespace hone
