#pragma once

#include <map>
#include <string>
#include <vector>

#include "hone/data/encoded_set.h"
#include "hone/formats/plan.h"
#include "hone/metrics/noise.h"
#include "hone/models/model_source.h"
#include "hone/train/calibration.h"

namespace hone {

/// The error of a format in one operand of one layer alone: everything before the layer runs in full precision. For
/// outputs, the error that the layer's quantized operands cause in its result.
struct OperandNoise {
  std::string layer;
  Operand operand;
  Format format;  ///< without a definition for outputs without a format
  Noise noise;
};

/// Measures every layer of the plan on its own, over the training texts of calibration. Ignores objections of formats.
/// Returns the operands of each layer in the order of the plan: its inputs, then its output.
std::vector<OperandNoise> measure_noise(const Model& model, const QuantizationPlan& plan,
                                        const EncodedSet& data, const CalibrationRun& run,
                                        Context& context);

/// Values that a layer reads: all of a weight or bias, some rows of an input.
struct OperandSample {
  std::string layer;
  Operand operand;
  Tensor values;
};

/// Returns the operands that the plan quantizes. Inputs are the first rows from the texts of calibration, up to
/// `most_values` values.
std::vector<OperandSample> sample_operands(const Model& model, const QuantizationPlan& plan,
                                           const EncodedSet& data, const CalibrationRun& run,
                                           std::int64_t most_values, Context& context);

}  // namespace hone
