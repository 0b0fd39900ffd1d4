#pragma once

#include <string>
#include <vector>

#include "hone/train/calibration.h"

/// Numbers for the thresholds of pruned activations (hone/passes/prune_inputs.h).
namespace hone {

/// A threshold, and what it does to what it reads.
struct InputZeros {
  std::string name;  ///< of the operation
  float least = 0;   ///< magnitudes below it are cut
  double share = 0;  ///< of the elements that were seen
};

/// Gives every threshold of `graph` the number below which `share` of the magnitudes lie that it would read if there were none,
/// over the `calibration_rows` of `data`, one text after the other, so that nothing is padding. The number is a quantile of a
/// histogram of 1024 bins for each power of two. `graph` is a forward graph in training mode; dropout is off. The parameters are
/// moved to the session's device and stay there. Throws `UserError` without texts; `Interrupted`.
std::vector<InputZeros> calibrate_thresholds(const Graph& graph, ParameterStore& parameters,
                                             const ExampleSource& data, double share,
                                             const CalibrationRun& run, const Session& session);

/// What the thresholds cut over the same texts where they stand.
std::vector<InputZeros> count_input_zeros(const Graph& graph, ParameterStore& parameters,
                                          const ExampleSource& data, const CalibrationRun& run,
                                          const Session& session);

}  // namespace hone
