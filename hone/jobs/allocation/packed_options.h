#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hone/jobs/allocation/allocation_options.h"
#include "hone/models/encoding.h"
#include "hone/train/calibration.h"

/// Models whose linears all take one option, as they would be run and stored.
namespace hone {

/// Pruned, rounded and packed, without masks. Formats that want ranges take them from `data.train`.
Model packed_in(const Model& model, const std::vector<std::string>& layers,
                const LayerOption& option, const EncodedSplits& data,
                const CalibrationRun& calibration, Context& context);

/// Bits that the weight of each layer takes in the file of a packed model, which leaves zeros out (hone/tensor/bitmaps.h): (layers,
/// options). 0 of formats without a packed form.
std::vector<std::vector<std::int64_t>> stored_bits(const Model& model,
                                                   const std::vector<std::string>& layers,
                                                   const std::vector<LayerOption>& options,
                                                   const EncodedSplits& data,
                                                   const CalibrationRun& calibration,
                                                   Context& context);

}  // namespace hone
