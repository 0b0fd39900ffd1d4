#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "hone/jobs/search/study_figures.h"
#include "hone/report/table.h"

/// Tables of studies, and their numbers in words.
namespace hone {

/// The trial attribute of one whose metrics came from an earlier search.
inline constexpr const char* kCachedAttribute = "cached";
/// The trial attributes of a candidate of `hone shrink`: its number, from 1, and what it does to the baseline, in words.
inline constexpr const char* kCandidateAttribute = "candidate";
inline constexpr const char* kRecipeAttribute = "recipe";
/// The trial attribute with the metrics of its model, by name.
inline constexpr const char* kMetricsAttribute = "metrics";
/// The trial attribute with what the trial did, spelled out, as results have it of the best one.
inline constexpr const char* kConfigurationAttribute = "configuration";

/// The study attribute with the number of trials that whoever runs it wants.
inline constexpr const char* kWantedTrialsAttribute = "wanted_trials";

struct TrialCounts {
  std::int64_t complete = 0, pruned = 0, failed = 0, running = 0, waiting = 0;
  std::int64_t cached = 0;     ///< of the complete ones
  std::int64_t run_again = 0;  ///< of the failed ones, as their process was interrupted or died
  /// As people count them: a trial that was run again is one trial.
  std::int64_t finished() const { return complete + pruned + failed - run_again; }
  std::int64_t distinct() const { return finished() + running + waiting; }
  std::int64_t all() const { return distinct() + run_again; }
};
TrialCounts count_trials(const StudyView& study);
/// The numbers of failed trials that were, or are to be, run again under other numbers.
std::set<std::int64_t> numbers_run_again(const StudyView& study);
/// "100 trials (1 interrupted and run again): 90 complete (3 from the cache), 8 stopped early, 1 failed, 1 waiting". States that no
/// trial has are left out, and an interrupted trial that was run again counts once.
std::string to_text(const TrialCounts& counts);

const Fields& fields_of(const TrialCounts*);

/// An objective in results.
struct ObjectiveResult {
  std::string formula;
  Direction direction = Direction::maximize;
};
const Fields& fields_of(const ObjectiveResult*);
std::vector<ObjectiveResult> objective_results(const ShownStudy& study);

/// The numbers of the trials, in their order.
std::vector<std::int64_t> numbers_of(const std::vector<const Trial*>& trials);

/// "best 0.7812 of trial 16"; of several objectives "3 on the front"; "": there is none.
std::string best_text(const StudyView& study);

/// The best trial of a study of one objective; null: there is none, or it has several.
const Trial* best_alone(const StudyView& study);
/// "Best of 20 trials: accuracy = 0.7812 (trial 16)", "3 of 20 trials on the Pareto front".
std::string headline_of(const ShownStudy& study);

/// A metric of the trial's model, as `kMetricsAttribute` has it; NaN: it has none of that name.
double metric_in(const Trial& trial, const std::string& name);
/// "value": its first objective; else a metric of its model. NaN: it has none.
double trial_value(const Trial& trial, const std::string& name);

/// The values of a trial's parameters, by their names.
Json shown_values(const ShownStudy& study, const Trial& trial);
/// The value of a parameter, "0.0003"; of a layer's format "full precision" in place of "none".
std::string value_text(const std::string& parameter, const Json& value);
/// "learning_rate 0.0003, batch 16, …"; of formats chosen layer by layer how many are which: "formats: 9 int, 5 none, …".
std::string values_text(const ShownStudy& study, const Trial& trial);

/// The best complete and feasible trials but repetitions, at most 20; of several objectives the Pareto front, best first by the
/// first objective. An accuracy on a part
/// that is known stands with Wilson's interval. Bits are those of all linears, the ones in full precision with 32 (`average_bits` of
/// docs/guides/search.md).
Table best_trials(const ShownStudy& study);
/// The same of these trials, in their order; of candidates of `hone shrink` with their numbers and recipes.
Table trials_table(const ShownStudy& study, const std::vector<const Trial*>& trials);
/// The complete candidates of `hone shrink`, in their order; empty: the study has none.
std::vector<const Trial*> shrink_candidates(const ShownStudy& study);
/// Says which confidence intervals that table has.
std::string certainty_text(const ShownStudy& study);
/// All of them, a row each, with all parameters.
Table all_trials(const ShownStudy& study);

}  // namespace hone
