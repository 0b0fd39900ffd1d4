#pragma once

#include "hone/search/sampler.h"

namespace hone {

/// Rules that differ between Optuna's versions of TPE.
struct TpeRules {
  bool multivariate = false;   ///< default for one objective
  bool constant_liar = false;  ///< default; running trials count as bad ones
  bool prior_in_gaps = true;  ///< the prior's mean counts as a neighbour when bandwidths are chosen
  bool scott = true;          ///< bandwidths of joint draws by Scott's rule, otherwise by gaps
  bool density_by_width = true;     ///< densities of continuous kernels include −ln σ
  bool steps_of_logarithms = true;  ///< logarithmic integers have masses, otherwise densities
  bool clipped_steps = false;       ///< masses are restricted to the bounds
  bool choices_first = true;   ///< draw choices before numbers, otherwise in the order of the space
  bool sorted_space = true;    ///< joint spaces are sorted by name, otherwise by first occurrence
  bool weighted_front = true;  ///< with several objectives, weight good trials by hypervolume
  bool at_most_25 = true;      ///< at most 25 good trials, also with several objectives
};

const TpeRules& rules_of(TpeProfile profile);

}  // namespace hone
