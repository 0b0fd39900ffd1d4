#pragma once

#include <string>
#include <vector>

#include "hone/train/calibration.h"

namespace hone {

/// Of what linear layers read.
struct InputHessian {
  std::vector<std::string> weights;  ///< the weights (N,K) that multiply these inputs, by name
  std::int64_t columns = 0;          ///< K
  std::vector<double> sums = {};     ///< Σ xᵀ x over all tokens (K,K); the upper triangle alone
};

/// Returns for the weights of the linear layers that `target` names (hone/passes/prune.h), in the graph's order, the second moments
/// of their inputs x over all tokens of the `calibration_rows` of `data`: half the Hessian of |x Wᵀ - x Vᵀ|², summed over
/// tokens, in a row of V. Weights that read the same inputs share one.
///
/// `graph` is a forward graph in training mode; dropout is off. All layers read what the model that is given computes, whatever
/// becomes of the layers before them. Texts go one after the other, so that nothing is padding. Sums are in double, and have the
/// same bits for any number of threads. The caller comes to hold `beside` bytes beside the sums. The parameters are moved to the
/// session's device and stay there.
///
/// Throws `UserError` without texts, for weights of more dimensions, and for inputs that are no numbers; `Interrupted`.
std::vector<InputHessian> input_hessians(const Graph& graph, const std::vector<std::string>& target,
                                         ParameterStore& parameters, const ExampleSource& data,
                                         const CalibrationRun& run, const Session& session,
                                         double beside);

}  // namespace hone
