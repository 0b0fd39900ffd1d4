#pragma once

#include <string>
#include <vector>

#include "hone/train/calibration.h"

namespace hone {

/// Second moments of the inputs of linear layers.
struct InputHessian {
  std::vector<std::string> weights;  ///< names of the weights (N,K) that multiply these inputs
  std::int64_t columns = 0;          ///< K
  std::vector<double> sums = {};     ///< Σ xᵀ x over all tokens (K,K); only the upper triangle
};

/// Returns for the weights of the linear layers that `target` selects (hone/passes/prune.h), in the graph's order,
/// the second moments of their inputs x over all tokens of the `calibration_rows` of `data`: half the Hessian of |x
/// Wᵀ - x Vᵀ|², summed over tokens, with respect to a row of V. Weights that read the same inputs share one result.
///
/// `graph` is a forward graph in training mode; dropout is off. All inputs are those of the given model, unaffected
/// by later changes to earlier layers. Examples run one at a time, so there is no padding. Sums are in double and
/// bit-identical for any number of threads. The caller will hold `beside` bytes besides the sums. The parameters are
/// moved to the session's device and stay there.
///
/// Throws `UserError` if there are no examples, for weights of more dimensions, and for inputs that are NaN or
/// infinite; `Interrupted`.
std::vector<InputHessian> input_hessians(const Graph& graph, const std::vector<std::string>& target,
                                         ParameterStore& parameters, const ExampleSource& data,
                                         const CalibrationRun& run, const Session& session,
                                         double beside);

}  // namespace hone
