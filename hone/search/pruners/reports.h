#pragma once

#include "hone/search/trial.h"

namespace hone {

/// Returns the better of two values; the number if the other is NaN.
double better_of(double a, double b, Direction direction);

/// Returns whether the last report is the first one of its interval: steps from `warmup` on are divided into
/// intervals of `width`. False before.
bool opens_interval(const Trial& trial, std::int64_t warmup, std::int64_t width);

/// Returns the last step of the complete trial with the lowest number that has reports, which determines `auto`
/// resources. (Optuna uses the longest trial at the time of the first query. This is the same trial if trials run one
/// at a time, and depends on timing otherwise.) None: there is none yet.
std::optional<std::int64_t> last_step_of_first_complete(const StudyView& study);

}  // namespace hone
