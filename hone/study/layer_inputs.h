#pragma once

#include <map>
#include <string>
#include <vector>

#include "hone/data/encoded_set.h"
#include "hone/frontends/huggingface/model.h"
#include "hone/runtime/context.h"
#include "hone/train/calibration.h"

namespace hone {

/// What layers read there, in full precision: a row of K channels for every token of the texts, or for every text.
struct LayerInput {
  std::int64_t rows = 0;         ///< that were seen
  std::vector<double> mean;      ///< (K)
  std::vector<float> magnitude;  ///< (K), the largest
  Tensor sample;                 ///< (some rows, K), fp32, of as many texts as there may be
};

/// What the layers read as their input, by the names of these values, over the texts that calibration looks at, one after the
/// other, so that nothing is padding. Throws `UserError` without texts; `Interrupted`.
std::map<std::string, LayerInput> look_at_inputs(const Model& model,
                                                 const std::vector<std::string>& layers,
                                                 const EncodedSet& texts, const CalibrationRun& run,
                                                 Context& context);

/// The name of the value that a layer reads as its input, quantized or not.
std::string input_name(const Graph& graph, const std::string& layer);

}  // namespace hone
