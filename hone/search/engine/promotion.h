#pragma once

#include "hone/search/trial.h"

/// Asynchronous successive halving with pauses: a pruned trial continues if it later turns out to be good.
namespace hone {

/// Returns the trial to continue: pruned at a rung, and among the best ⌊n/η⌋ of that rung. Prefers the highest rung,
/// there the best trial, and the first among equals. `points` are those of `points_of`: trials that another one
/// continues are not among them, and the continuing trial takes their place in the rungs. Null: there is none.
const Trial* promotable(const StudyView& points, std::int64_t reduction_factor);

}  // namespace hone
