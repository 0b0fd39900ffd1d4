#pragma once

#include <string>
#include <vector>

#include "hone/search/trial.h"

namespace hone {

/// How much a parameter had to do with a trial being among the best.
struct ParameterImportance {
  std::string name;
  double share = 0;  ///< all of them together make 1
};
const Fields& fields_of(const ParameterImportance*);

/// The importance of each parameter of the complete trials with finite values for reaching the best tenth of them (with several
/// objectives: by their ranks and the hypervolume that they dominate), the most important first, equal ones by name. It is the
/// divergence of where the best trials have the parameter from where all of them have it, each as a Parzen estimate on a grid of at
/// most 50 places, with Scott's bandwidth; trials without it, or with other bounds, count by their share. PED-ANOVA (Watanabe et al.,
/// IJCAI 2023, arXiv 2304.10255) for conditional parameters (arXiv 2601.20800, algorithm 1), to the figures of Optuna 5.0's
/// `get_param_importances`. All have the same share where nothing tells them apart, as with fewer than two trials.
std::vector<ParameterImportance> parameter_importances(const StudyView& study);

}  // namespace hone
