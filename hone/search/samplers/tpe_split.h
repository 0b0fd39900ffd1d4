#pragma once

#include <cstdint>
#include <vector>

#include "hone/search/samplers/tpe_profile.h"
#include "hone/search/samplers/trial_history.h"

namespace hone {

/// Good and other trials, as rows of a history, both by number.
struct TpeSplit {
  std::vector<std::uint32_t> below, above;
};

/// Returns how many of `finished` trials are good: a tenth, rounded up.
std::size_t good_count(std::size_t finished, std::size_t objectives, const TpeRules& rules);

/// Selects the best `good` finished trials: complete and feasible ones by their loss, with several objectives by rank
/// and dominated hypervolume; then pruned ones by last step and last report; then infeasible ones by violation. The
/// first among equals. Running trials are among the others.
TpeSplit split_trials(const TrialHistory& history, std::size_t good);

}  // namespace hone
