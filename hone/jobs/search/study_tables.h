#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "hone/jobs/search/study_figures.h"
#include "hone/report/table.h"

/// Tables of studies, and sentences about them.
namespace hone {

/// The trial attribute that marks metrics from an earlier search.
inline constexpr const char* kCachedAttribute = "cached";
/// The trial attributes of a candidate of `hone shrink`: its number, from 1, and its recipe.
inline constexpr const char* kCandidateAttribute = "candidate";
inline constexpr const char* kRecipeAttribute = "recipe";
/// The trial attribute with the metrics of its model, by name.
inline constexpr const char* kMetricsAttribute = "metrics";
/// The trial attribute with the configuration of the trial, as the results have it for the best one.
inline constexpr const char* kConfigurationAttribute = "configuration";

/// The study attribute with the requested number of trials.
inline constexpr const char* kWantedTrialsAttribute = "wanted_trials";

struct TrialCounts {
  std::int64_t complete = 0, pruned = 0, failed = 0, running = 0, waiting = 0;
  std::int64_t cached = 0;     ///< of the complete ones
  std::int64_t run_again = 0;  ///< failed ones whose process was interrupted or died
  /// Counts a trial that was run again as one trial.
  std::int64_t finished() const { return complete + pruned + failed - run_again; }
  std::int64_t distinct() const { return finished() + running + waiting; }
  std::int64_t all() const { return distinct() + run_again; }
};
TrialCounts count_trials(const StudyView& study);
/// Returns the numbers of failed trials that were, or will be, run again under other numbers.
std::set<std::int64_t> numbers_run_again(const StudyView& study);
/// "100 trials (1 interrupted and run again): 90 complete (3 from the cache), 8 stopped early, 1 failed, 1 waiting".
/// States that no trial has are left out, and an interrupted trial that was run again counts once.
std::string to_text(const TrialCounts& counts);

const Fields& fields_of(const TrialCounts*);

/// An objective in results.
struct ObjectiveResult {
  std::string formula;
  Direction direction = Direction::maximize;
};
const Fields& fields_of(const ObjectiveResult*);
std::vector<ObjectiveResult> objective_results(const DescribedStudy& study);

/// Returns the numbers of the trials, in their order.
std::vector<std::int64_t> numbers_of(const std::vector<const Trial*>& trials);

/// "best 0.7812 of trial 16"; with several objectives "3 on the front"; "" if there is none.
std::string best_text(const StudyView& study);

/// Returns the best trial of a study with one objective; null if there is none, or if it has several objectives.
const Trial* best_of_single_objective(const StudyView& study);
/// "Best of 20 trials: accuracy = 0.7812 (trial 16)", "3 of 20 trials on the Pareto front".
std::string headline_of(const DescribedStudy& study);

/// Returns a metric of the trial's model from `kMetricsAttribute`; NaN if it has none of that name.
double metric_in(const Trial& trial, const std::string& name);
/// Returns the first objective for "value", else a metric of the model; NaN if it has none.
double trial_value(const Trial& trial, const std::string& name);

/// Returns the values of a trial's parameters by name.
Json shown_values(const DescribedStudy& study, const Trial& trial);
/// Returns the value of a parameter, "0.0003". A layer's format "none" becomes "full precision".
std::string value_text(const std::string& parameter, const Json& value);
/// "learning_rate 0.0003, batch 16, …". Formats chosen layer by layer are counted: "formats: 9 int, 5 none, …".
std::string values_text(const DescribedStudy& study, const Trial& trial);

/// Returns the best complete and feasible trials without repetitions, at most 20; with several objectives the Pareto
/// front, best first by the first objective. An accuracy on a known split has Wilson's interval. Bits are averaged over
/// all linears, 32 for those in full precision (`average_bits` of docs/guides/search.md).
Table best_trials(const DescribedStudy& study);
/// Returns the same for these trials, in their order; candidates of `hone shrink` have their numbers and recipes.
Table trials_table(const DescribedStudy& study, const std::vector<const Trial*>& trials);
/// Returns the complete candidates of `hone shrink`, in their order; empty for other studies.
std::vector<const Trial*> shrink_candidates(const DescribedStudy& study);
/// Says which confidence intervals that table has.
std::string certainty_text(const DescribedStudy& study);
/// Returns all trials as rows, with all parameters.
Table all_trials(const DescribedStudy& study);

}  // namespace hone
