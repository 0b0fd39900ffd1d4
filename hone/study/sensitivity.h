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

/// What a format does to one operand of one layer, alone: everything before the layer runs in full
/// precision. For outputs, what the quantized operands of the layer do to its result.
struct OperandNoise {
  std::string layer;
  Operand operand;
  Format format;  ///< without a record for outputs that have none of their own
  Noise noise;
};

/// Measures every layer of the plan on its own, over the training texts that calibration looks at too; objections of formats are not heeded. In the order of the plan: what the layer reads, then its output.
std::vector<OperandNoise> measure_noise(const Model& model, const QuantizationPlan& plan,
                                        const EncodedSet& data, const CalibrationRun& run,
                                        Context& context);

/// Values that layers read: weights and biases whole, inputs as some of their rows.
struct OperandSample {
  std::string layer;
  Operand operand;
  Tensor values;
};

/// The operands the plan quantizes. Inputs are the first rows, up to `most_values` values, of what
/// the texts give that calibration looks at.
std::vector<OperandSample> sample_operands(const Model& model, const QuantizationPlan& plan,
                                           const EncodedSet& data, const CalibrationRun& run,
                                           std::int64_t most_values, Context& context);

}  // namespace hone
