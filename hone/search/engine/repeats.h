#pragma once

#include "hone/search/trial.h"

/// Support for noisy objectives: the best of many trials is partly lucky, so the best ones are repeated before one of
/// them wins.
namespace hone {

/// A trial with all its runs.
struct RepeatedTrial {
  const Trial* trial = nullptr;  ///< the first run
  double mean = 0;               ///< over the values of all complete runs
  std::int64_t runs = 0;         ///< number of complete runs
  std::int64_t begun = 0;        ///< number of repeats, including failed and running ones
};

/// Returns the complete, feasible trials of a study with one objective, ordered by mean, best first, the first among
/// equals. `all` are all trials: repeats name their trial in the user attribute `repeat_of`, and are numbered from 1
/// in `repeat`.
std::vector<RepeatedTrial> ranked_by_mean(const StudyView& all);

/// Returns the first of the `top` best trials that was repeated less than `repeats` times. None: all were.
std::optional<RepeatedTrial> trial_to_repeat(const StudyView& all, std::int64_t repeats,
                                             std::int64_t top);

}  // namespace hone
