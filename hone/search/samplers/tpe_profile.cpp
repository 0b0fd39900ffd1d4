#include "hone/search/samplers/tpe_profile.h"

#include "hone/base/error.h"

namespace hone {
namespace {

// In the order of TpeProfile. What a row does not name is as in TpeRules.
const TpeRules kRules[] = {
    // optuna_5
    {.multivariate = true,
     .constant_liar = true,
     .prior_in_gaps = false,
     .scott = false,
     .weighted_front = false,
     .at_most_25 = false},
    // optuna_4_9
    {.prior_in_gaps = false},
    // optuna_4_6
    {.steps_of_logarithms = false},
    // optuna_3_1
    {.density_by_width = false,
     .steps_of_logarithms = false,
     .clipped_steps = true,
     .choices_first = false,
     .sorted_space = false},
};

}  // namespace

const TpeRules& rules_of(TpeProfile profile) {
  const auto row = static_cast<std::size_t>(profile);
  HONE_ASSERT(row < std::size(kRules), "no profile {}", row);
  return kRules[row];
}

}  // namespace hone
