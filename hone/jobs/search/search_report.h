#pragma once

#include "hone/base/output_folder.h"
#include "hone/jobs/search/search.h"
#include "hone/jobs/search/search_trial.h"
#include "hone/search/engine/repeats.h"

namespace hone {

/// What a search has found.
struct SearchFindings {
  const SearchJob& job;
  const TrialSubject& subject;
  const TrialSpace& space;
  StudyView view = {};
  SearchEnd end = {};
  RepeatedTrial winner = {};
  std::vector<std::string> dead = {};  ///< parameters that change nothing
  Json baseline = nullptr;             ///< as in `kBaselineAttribute`
};

/// The part that objectives are measured on, as `kMeasuredOnAttribute` has it: without that choices are made on it, which a search is
/// for.
Json measured_on(const MeasuredPart& part);

/// The trial that wins: the best one; where the best were repeated, the best mean of those that were; of several objectives the one of
/// the front that is best by the first of them. Its trial is null where none is complete and feasible.
RepeatedTrial winner_of(const StudyView& view, std::int64_t repeats);

/// Why a trial failed, as far as it was said.
std::string failure_of(const Trial& trial);
/// "; trial 3 failed: …", of the first that did; or "".
std::string first_failure(const StudyView& view);

/// The complete trials that nothing but gates keeps from being feasible, best first by the first objective.
std::vector<const Trial*> excluded_by_gates(const StudyView& view);

/// Where these are all that could have won: writes trials.csv, figures and the report into the folder. The result does not pass its gates.
/// `too_few`: why no trial could be expected to; or "". `document` has the title and notes.
JobResult report_no_winner(const SearchFindings& findings, const std::string& too_few,
                           Document document, OutputFolder& output, Context& context);

/// Evaluates the winner once on the reported split, against its baseline where that is trained, and writes trials.csv, figures and
/// the report into the folder. `document` has the title and notes.
JobResult report_search(const SearchFindings& findings, const TrialModel& made, Document document,
                        OutputFolder& output, Context& context);

}  // namespace hone
