#pragma once

#include <map>
#include <string>
#include <vector>

#include "hone/train/calibration.h"

namespace hone {

/// Input norms that Wanda multiplies magnitudes by (Sun et al., arXiv 2306.11695).
///
/// Returns, by the name of the weight (N,K) of every linear layer that `target` selects (hone/passes/prune.h), the
/// Euclidean norms (K) of its input's columns over all tokens of the `calibration_rows` of `data`. Examples run one
/// at a time, so there is no padding. `graph` is a forward graph in training mode; dropout is off. The parameters are
/// moved to the session's device and stay there. Throws `UserError` if there are no examples and for weights of more
/// dimensions; `Interrupted`.
std::map<std::string, Tensor> input_norms(const Graph& graph,
                                          const std::vector<std::string>& target,
                                          ParameterStore& parameters, const ExampleSource& data,
                                          const CalibrationRun& run, const Session& session);

}  // namespace hone
