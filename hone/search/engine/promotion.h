#pragma once

#include "hone/search/trial.h"

/// Asynchronous successive halving with pauses: what was pruned at a rung goes on when it turns out to be good.
namespace hone {

/// The trial that goes on next: pruned at a rung, and of the values of that rung among the best ⌊n/η⌋; of several that on the
/// highest rung, there the best one, of equal ones the first. `points` are those of `points_of`: a trial that another one goes on with is not
/// among them, and its place in its rungs is that of the other one. Null: there is none.
const Trial* promotable(const StudyView& points, std::int64_t reduction_factor);

}  // namespace hone
