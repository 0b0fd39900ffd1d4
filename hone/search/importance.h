#pragma once

#include <string>
#include <vector>

#include "hone/search/trial.h"

namespace hone {

/// How much a parameter contributes to a trial being among the best.
struct ParameterImportance {
  std::string name;
  double share = 0;  ///< shares sum to 1
};
const Fields& fields_of(const ParameterImportance*);

/// Returns the importance of each parameter of the complete trials with finite values for reaching the best tenth of
/// them (with several objectives: by rank and dominated hypervolume), the most important first, equal ones by name.
/// It is the divergence between the distributions of the parameter in the best trials and in all trials, each a
/// Parzen estimate on a grid of at most 50 points, with Scott's bandwidth; trials without it, or with other bounds,
/// count by their share. PED-ANOVA (Watanabe et al., IJCAI 2023, arXiv 2304.10255) for conditional parameters (arXiv
/// 2601.20800, algorithm 1), with the results of Optuna 5.0's `get_param_importances`. All shares are equal if
/// nothing distinguishes the parameters, as with fewer than two trials.
std::vector<ParameterImportance> parameter_importances(const StudyView& study);

}  // namespace hone
