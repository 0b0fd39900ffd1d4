#pragma once

#include "hone/search/trial.h"

/// Objectives with noise: the best of many trials is also a lucky one, so the best are run again before one of them wins.
namespace hone {

/// A trial with all its runs.
struct RepeatedTrial {
  const Trial* trial = nullptr;  ///< the first run
  double mean = 0;               ///< of the values of all complete runs
  std::int64_t runs = 0;         ///< complete ones
  std::int64_t begun = 0;        ///< repeats, failed ones and those that still run included
};

/// The complete, feasible trials of a study of one objective, the best mean first, of equal ones the first. `all` are all trials: the
/// repeats of one name it in their user attribute `repeat_of`, and count themselves from 1 in `repeat`.
std::vector<RepeatedTrial> ranked_by_mean(const StudyView& all);

/// The first of the `top` best that was repeated less than `repeats` times. None: all were.
std::optional<RepeatedTrial> to_repeat(const StudyView& all, std::int64_t repeats,
                                       std::int64_t top);

}  // namespace hone
