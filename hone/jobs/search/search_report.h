#pragma once

#include "hone/base/output_folder.h"
#include "hone/jobs/search/search.h"
#include "hone/jobs/search/search_trial.h"
#include "hone/search/engine/repeats.h"

namespace hone {

/// The results of a search.
struct SearchFindings {
  const SearchJob& job;
  const TrialSubject& subject;
  const TrialSpace& space;
  StudyView view = {};
  SearchEnd end = {};
  RepeatedTrial winner = {};
  std::vector<std::string> dead = {};  ///< parameters without an effect
  Json baseline = nullptr;             ///< as in `kBaselineAttribute`
};

/// Returns the split of the objectives for `kMeasuredOnAttribute`. Omits the caution that the split is used for
/// choices, which holds for every search.
Json measured_on(const MeasuredSplit& part);

/// Returns the winning trial: the best one, or with `repeats` the one with the best mean among those that were
/// repeated. With several objectives it is the trial of the front that is best by the first objective. Its trial is
/// null if none is complete and feasible.
RepeatedTrial winner_of(const StudyView& view, std::int64_t repeats);

/// Returns why a trial failed; "" if that is not known.
std::string failure_of(const Trial& trial);
/// "; trial 3 failed: …", for the first failed trial; or "".
std::string first_failure(const StudyView& view);

/// Returns the complete trials that only the gates make infeasible, best first by the first objective.
std::vector<const Trial*> excluded_by_gates(const StudyView& view);

/// Reports a search in which the gates exclude all trials: writes trials.csv, figures and the report into the folder.
/// The result does not pass its gates. `too_few` says why no trial could be expected to, or is empty. `document` has
/// the title and notes.
JobResult report_no_winner(const SearchFindings& findings, const std::string& too_few,
                           Document document, OutputFolder& output, Context& context);

/// Evaluates the winner once on the reported split, against its baseline if that is trained. Writes trials.csv, figures
/// and the report into the folder. `document` has the title and notes.
JobResult report_search(const SearchFindings& findings, const TrialModel& made, Document document,
                        OutputFolder& output, Context& context);

}  // namespace hone
