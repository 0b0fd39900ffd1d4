#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "hone/search/pruner.h"
#include "hone/search/sampler.h"
#include "hone/search/storage/storage.h"

/// Runs trials of a study until a budget is spent: claims or creates one, suggests its values, calls the objective,
/// and stores the result. Any number of processes may work on one study.
namespace hone {

/// A trial while its objective runs.
class TrialRun {
 public:
  virtual ~TrialRun() = default;
  /// If it has the user attribute `continues`, it continues the pruned trial with that number, whose reports it has.
  /// If it has `repeat_of` and `repeat` (1, 2, …), it repeats that trial with other random numbers.
  virtual const Trial& trial() const = 0;
  virtual const Assignment& values() const = 0;
  /// Reports an intermediate value at a step. Returns whether the trial should end.
  virtual bool report(std::int64_t step, double value) = 0;
  virtual void set_user_attribute(const std::string& key, const Json& value) = 0;
};

struct TrialOutcome {
  TrialState state = TrialState::complete;  ///< complete, pruned or fail
  std::vector<double> values = {};          ///< of a complete trial, one per direction
  std::vector<double> constraints = {};     ///< above 0: violated
  std::string failure = {};                 ///< reason of the failure, a sentence
  std::map<std::string, Json> user_attributes = {};
};

/// May throw `Interrupted`, after which the trial is run again, or any other exception, which makes the trial a
/// failed one.
using Objective = std::function<TrialOutcome(TrialRun&)>;

struct SearchOptions {
  std::string study = {};
  std::vector<Direction> directions = {Direction::minimize};
  SearchSpace space = {};
  /// Number of trials that run at once, over all workers. A trial knows the results of trials whose numbers are lower
  /// by at least this, and only the parameters of the others, so that results do not depend on which worker is
  /// faster.
  std::int64_t concurrency = 1;
  /// A trial may know all finished trials: no worker waits for a slow one, and results depend on the speed of workers.
  bool asynchronous = false;
  /// Trials of the study, from all workers, including failed ones, but not those that were run again because their
  /// worker was lost; 0: no limit.
  std::int64_t trials = 0;
  double seconds = 0;         ///< of this call; 0: no limit
  std::int64_t patience = 0;  ///< complete trials without improvement that end it; 0: never
  /// In a finite space, points are not suggested twice, and a small space without untried points is exhausted.
  bool avoid_duplicates = true;
  bool penalize_failures = true;  ///< samplers learn to avoid points that failed
  std::int64_t retries = 1;       ///< of a trial whose worker died
  double heartbeat_seconds = 60;  ///< between heartbeats; silence for twice as long means dead
  /// η of asynchronous successive halving with pauses (Li et al., "A system for massively parallel hyperparameter
  /// tuning", 2020): if a trial that was pruned at a rung is later among the best 1/η of its rung, a new trial
  /// continues it. 0: pruned trials stay pruned.
  std::int64_t promote_by = 0;
  /// How often the best trials are repeated with other random numbers, so that the luckiest is not mistaken for the
  /// best: see engine/repeats.h. Repeats count among `trials`; samplers do not see them.
  std::int64_t repeats = 0;
  std::int64_t repeat_top = 1;  ///< number of best trials to repeat
};

/// Why a search ended.
enum class EndReason : std::uint8_t {
  trials,  ///< the requested number was run
  time,
  plateau,
  exhausted,  ///< the space has no untried point
  interrupted
};
std::span<const EnumName> enum_names(EndReason);

struct SearchEnd {
  EndReason reason = EndReason::trials;
  std::int64_t trials = 0;  ///< run by this call
};

struct SearchCallbacks {
  std::function<void(const Trial& finished, const StudyView& study)> on_trial = {};
  /// Receives a sentence about a problem that does not end the search: a trial whose worker was lost, a result that
  /// came too late.
  std::function<void(const std::string& sentence)> on_warning = {};
};

/// Creates the study if it does not exist and runs trials until an end is reached; stores the reason in the study's
/// user attribute `end_reason`. A trial that is interrupted, or whose worker dies, fails, and a waiting copy of it is
/// run next; failed trials are not run again. Throws `UserError` for a study with other directions, invalid options,
/// a space that objects to all points, and if the storage is unavailable for more than a minute: the current trial is
/// then left to the next worker that sweeps.
SearchEnd run_search(StudyStorage& storage, Sampler& sampler, const Pruner& pruner,
                     const Objective& objective, const SearchOptions& options,
                     const SearchCallbacks& callbacks = {});

}  // namespace hone
