#pragma once

#include "hone/search/sampler.h"

namespace hone {

/// What Optuna's versions of TPE differ in.
struct TpeRules {
  bool multivariate = false;   ///< by default, of one objective
  bool constant_liar = false;  ///< by default: running trials count as bad ones
  bool prior_in_gaps =
      true;  ///< the prior's mean is a neighbour of observations when bandwidths are chosen
  bool scott = true;             ///< bandwidths of joint draws by Scott's rule, otherwise by gaps
  bool density_by_width = true;  ///< densities of continuous kernels count −ln σ
  bool steps_of_logarithms = true;  ///< logarithmic whole numbers have masses, otherwise densities
  bool clipped_steps = false;       ///< masses count what lies within the bounds alone
  bool choices_first = true;  ///< draws choices before numbers, otherwise in the order of the space
  bool sorted_space = true;   ///< joint spaces by name, otherwise as parameters first occurred
  bool weighted_front = true;  ///< with several objectives good trials weigh by their hypervolume
  bool at_most_25 = true;      ///< good trials, with several objectives too
};

const TpeRules& rules_of(TpeProfile profile);

}  // namespace hone
