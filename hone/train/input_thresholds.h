#pragma once

#include <string>
#include <vector>

#include "hone/train/calibration.h"

/// Calibration of the thresholds of pruned activations (hone/passes/prune_inputs.h).
namespace hone {

/// A threshold and its effect on its input.
struct InputZeros {
  std::string name;  ///< of the operation
  float least = 0;   ///< magnitudes below it become zero
  double share = 0;  ///< of the observed elements that become zero
};

/// Sets every threshold of `graph` to the value below which `share` of the magnitudes of its input lie, as computed
/// without thresholds, over the `calibration_rows` of `data`. Examples run one at a time, so there is no padding. The
/// value is a quantile of a histogram with 1024 bins per power of two. `graph` is a forward graph in training mode;
/// dropout is off. The parameters are moved to the session's device and stay there. Throws `UserError` if there are
/// no examples; `Interrupted`.
std::vector<InputZeros> calibrate_thresholds(const Graph& graph, ParameterStore& parameters,
                                             const ExampleSource& data, double share,
                                             const CalibrationRun& run, const Session& session);

/// Counts what the thresholds zero over the same examples when they are in place.
std::vector<InputZeros> count_input_zeros(const Graph& graph, ParameterStore& parameters,
                                          const ExampleSource& data, const CalibrationRun& run,
                                          const Session& session);

}  // namespace hone
