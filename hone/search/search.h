#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "hone/search/pruner.h"
#include "hone/search/sampler.h"
#include "hone/search/storage/storage.h"

/// Runs trials of a study: claims or makes one, has its values suggested, calls the objective, writes what it says, until a
/// budget is spent. Any number of processes do so on one study.
namespace hone {

/// A trial while its objective runs.
class TrialRun {
 public:
  virtual ~TrialRun() = default;
  /// With `continues` among its user attributes it goes on where the trial of that number was pruned, whose reports it has; with
  /// `repeat_of` and `repeat` (1, 2, …) it is to be run as that one was, with other random numbers.
  virtual const Trial& trial() const = 0;
  virtual const Assignment& values() const = 0;
  /// An intermediate value of a step; whether the trial is to end for it.
  virtual bool report(std::int64_t step, double value) = 0;
  virtual void set_user_attribute(const std::string& key, const Json& value) = 0;
};

/// What an objective says of its trial.
struct TrialOutcome {
  TrialState state = TrialState::complete;  ///< complete, pruned or fail
  std::vector<double> values = {};          ///< of a complete one, one for each direction
  std::vector<double> constraints = {};     ///< above 0: violated
  std::string failure = {};                 ///< why it failed, a sentence
  std::map<std::string, Json> user_attributes = {};
};

/// Throws `Interrupted`, which leaves the trial to be run again, and any other exception, which makes it a failed one.
using Objective = std::function<TrialOutcome(TrialRun&)>;

struct SearchOptions {
  std::string study = {};
  std::vector<Direction> directions = {Direction::minimize};
  SearchSpace space = {};
  /// How many trials run at once, all workers taken together. A trial knows of those trials that are at least so many
  /// numbers before it, and only of the parameters of the others, so that results do not depend on which worker was faster.
  std::int64_t concurrency = 1;
  /// A trial may know of all that has finished: nobody waits for a slow one, and results depend on the workers' speed.
  bool asynchronous = false;
  /// Of the study, whoever made them, failed ones included, those apart that were run again as their worker was lost; 0: no bound.
  std::int64_t trials = 0;
  double seconds = 0;         ///< of this call; 0: no bound
  std::int64_t patience = 0;  ///< ends after so many complete trials without a better one; 0: never
  /// In a space of finitely many points one that was tried is not suggested again, and a small space that has no other is exhausted.
  bool avoid_duplicates = true;
  bool penalize_failures = true;  ///< samplers learn to stay away from points that failed
  std::int64_t retries = 1;       ///< of a trial whose worker died
  double beat_seconds = 60;       ///< between two signs of life; silent for twice as long is dead
  /// η of asynchronous successive halving with pauses (Li et al., "A system for massively parallel hyperparameter tuning", 2020):
  /// where a rung's pruner has pruned a trial that later is among the best 1/η of its rung, a new trial goes on where it ended. 0: what
  /// is pruned stays so.
  std::int64_t promote_by = 0;
  /// How often the best trials are run again with other random numbers, so that the luckiest is not taken for the best: see
  /// engine/repeats.h. They count among `trials`, samplers do not see them.
  std::int64_t repeats = 0;
  std::int64_t repeat_top = 1;  ///< how many of the best
};

/// Why a search ended.
enum class EndReason : std::uint8_t {
  trials,  ///< as many were run as were asked for
  time,
  plateau,
  exhausted,  ///< the space has no other point
  interrupted
};
std::span<const EnumWord> enum_words(EndReason);

struct SearchEnd {
  EndReason reason = EndReason::trials;
  std::int64_t trials = 0;  ///< that this call ran
};

/// What is to be told on the way.
struct SearchCallbacks {
  std::function<void(const Trial& finished, const StudyView& study)> on_trial = {};
  /// A sentence about what went wrong without ending the search: a trial whose worker was lost, a result that came too late.
  std::function<void(const std::string& sentence)> on_warning = {};
};

/// Makes the study where there is none and runs trials until an end is reached; why it ended stands in the study's user attribute
/// `end_reason`. A trial that is interrupted, or whose worker dies, is a failed one, and a waiting copy of it is run next; what fails is
/// not run again. Throws `UserError` for a study whose directions are others, options that mean nothing, a space without a point that it does
/// not object to, and where the storage is gone for more than a minute: the trial that ran then is left to whoever sweeps next.
SearchEnd run_search(StudyStorage& storage, Sampler& sampler, const Pruner& pruner,
                     const Objective& objective, const SearchOptions& options,
                     const SearchCallbacks& callbacks = {});

}  // namespace hone
