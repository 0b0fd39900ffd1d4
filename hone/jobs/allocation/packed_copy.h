#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hone/jobs/allocation/allocation_options.h"
#include "hone/models/encoding.h"
#include "hone/train/calibration.h"

/// Models whose linears all take the same option, packed as they would be run and stored.
namespace hone {

/// Returns the model pruned, rounded and packed, without masks. Formats are calibrated on `data.train` if needed.
Model packed_copy(const Model& model, const std::vector<std::string>& layers,
                  const LayerOption& option, const EncodedSplits& data,
                  const CalibrationRun& calibration, Context& context);

/// Returns the bits that each layer's weight takes in the file of a packed model, which leaves out zeros
/// (hone/tensor/bitmaps.h): (layers, options). 0 for formats without a packed form.
std::vector<std::vector<std::int64_t>> stored_bits(const Model& model,
                                                   const std::vector<std::string>& layers,
                                                   const std::vector<LayerOption>& options,
                                                   const EncodedSplits& data,
                                                   const CalibrationRun& calibration,
                                                   Context& context);

}  // namespace hone
