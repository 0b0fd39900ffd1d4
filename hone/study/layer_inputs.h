#pragma once

#include <map>
#include <string>
#include <vector>

#include "hone/data/encoded_set.h"
#include "hone/frontends/huggingface/model.h"
#include "hone/runtime/context.h"
#include "hone/train/calibration.h"

namespace hone {

/// Statistics of a value that layers read, in full precision: a row of K channels for every token, or for every text.
struct LayerInput {
  std::int64_t rows = 0;         ///< observed
  std::vector<double> mean;      ///< (K)
  std::vector<float> magnitude;  ///< (K), the largest absolute values
  Tensor sample;                 ///< (some rows, K), fp32, spread over as many texts as possible
};

/// Returns the inputs of the layers, by value name, over the texts of calibration. Runs them one by one, so that
/// nothing is padded. Throws `UserError` without texts; `Interrupted`.
std::map<std::string, LayerInput> observe_inputs(const Model& model,
                                                 const std::vector<std::string>& layers,
                                                 const EncodedSet& texts, const CalibrationRun& run,
                                                 Context& context);

/// Returns the name of the value that a layer reads as its input, before any quantizer.
std::string input_name(const Graph& graph, const std::string& layer);

}  // namespace hone
