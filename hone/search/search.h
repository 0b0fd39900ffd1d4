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

/// Throws `Interrupted`, which leaves the trial to be run again, and any other `Error`, which makes it a failed one.
using Objective = std::function<TrialOutcome(TrialRun&)>;

struct SearchOptions {
  std::string study;
  std::vector<Direction> directions = {Direction::minimize};
  SearchSpace space = {};
  /// How many trials run at once, all workers taken together. A trial knows of those trials that are at least so many
  /// numbers before it, and only of the parameters of the others, so that results do not depend on which worker was faster.
  std::int64_t concurrency = 1;
  /// A trial may know of all that has finished: nobody waits for a slow one, and results depend on the workers' speed.
  bool asynchronous = false;
  std::int64_t trials = 0;    ///< of the study that may end, failed ones included; 0: no bound
  double seconds = 0;         ///< of this call; 0: no bound
  std::int64_t patience = 0;  ///< ends after so many complete trials without a better one; 0: never
  bool avoid_duplicates =
      true;  ///< a point that was complete is not tried again while there is another
  bool penalize_failures = true;  ///< samplers learn to stay away from points that failed
  std::int64_t retries = 1;       ///< of a trial whose worker died
  double beat_seconds = 60;       ///< between two signs of life; silent for twice as long is dead
};

/// Why a search ended: "trials", "time", "plateau", "exhausted", "interrupted".
struct SearchEnd {
  std::string reason;
  std::int64_t ran = 0;  ///< trials that this call ran
};

/// What is to be told on the way.
struct SearchCallbacks {
  std::function<void(const Trial& finished, const StudyView& study)> on_trial = {};
};

/// Runs trials until an end is reached. Throws `UserError` for a study whose directions are others, and where the storage is gone for
/// more than a minute.
SearchEnd run_search(StudyStorage& storage, Sampler& sampler, const Pruner& pruner,
                     const Objective& objective, const SearchOptions& options,
                     const SearchCallbacks& callbacks = {});

}  // namespace hone
