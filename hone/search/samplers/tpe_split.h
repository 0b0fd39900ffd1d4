#pragma once

#include <cstdint>
#include <vector>

#include "hone/search/samplers/tpe_profile.h"
#include "hone/search/samplers/trial_history.h"

namespace hone {

/// Good trials and the others, as rows of a history, both by number.
struct TpeSplit {
  std::vector<std::uint32_t> below, above;
};

/// How many of so many finished trials are good: a tenth, rounded up.
std::size_t good_count(std::size_t finished, std::size_t objectives, const TpeRules& rules);

/// The best `good` of the finished trials: complete and feasible ones by their loss, with several objectives by their ranks and the
/// hypervolume that they dominate; then pruned ones by how far they came and what they reported there; then infeasible ones by how
/// much they violate. Of equal ones the first. Those that run are among the others.
TpeSplit split_trials(const TrialHistory& history, std::size_t good);

}  // namespace hone
