#pragma once

#include "hone/base/output_folder.h"
#include "hone/jobs/search.h"
#include "hone/jobs/search_trial.h"

namespace hone {

/// What a search has found.
struct SearchFindings {
  const SearchJob& job;
  const TrialSubject& subject;
  const TrialSpace& space;
  StudyView view = {};
  SearchEnd end = {};
  const Trial* winner = nullptr;
  std::vector<std::string> dead = {};  ///< parameters that change nothing
};

/// The trial that wins: the best one, by the mean of its runs where the best were repeated; of several objectives the one of the front
/// that is best by the first of them. Null: none is complete and feasible.
const Trial* winner_of(const StudyView& view, std::int64_t repeats);

/// "; the first that failed says: …", or "".
std::string first_failure(const StudyView& view);

/// Measures the winner once on the part that is reported, beside the model it was made of where that is trained, and writes
/// trials.csv, figures and the report into the folder.
SearchResult report_search(const SearchFindings& findings, const TrialModel& made, RunReport report,
                           OutputFolder& output, Context& context);

}  // namespace hone
