#pragma once

#include "hone/search/trial.h"

/// What pruners ask of the reports of a trial.
namespace hone {

/// The better one of two values; of NaN and a number the number.
double better_of(double a, double b, Direction direction);

/// The last report is the first one of its interval: steps from `warmup` on are cut into intervals of `width`. False before.
bool opens_interval(const Trial& trial, std::int64_t warmup, std::int64_t width);

/// The last step of the complete trial with the lowest number that has reports: what `auto` resources are measured by. (Optuna takes the
/// longest one at the moment it is first asked, which is that one where trials run one after the other, and depends on the moment where
/// they do not.) None: there is none yet.
std::optional<std::int64_t> last_step_of_first_complete(const StudyView& study);

}  // namespace hone
