#pragma once

#include <map>
#include <string>
#include <vector>

#include "hone/formats/plan.h"
#include "hone/frontends/huggingface/model.h"
#include "hone/passes/smooth.h"
#include "hone/study/layer_inputs.h"

namespace hone {

/// Scales for a group, and what they do.
struct SmoothScales {
  SmoothGroup group;
  double alpha = 0;           ///< how much of the range goes over to the weights
  std::vector<float> scales;  ///< (K), powers of two; empty: the outputs do not gain by any
  /// Signal-to-noise ratio, in dB, of what the group's linears give with rounded weights and inputs, without scales and with
  /// the best: the mean of the noise of each in shares of its own signal.
  double snr_before_db = 0, snr_after_db = 0;

  bool applies() const { return !scales.empty(); }
};

/// What the outputs have to gain for scales to be put in: free ones, and those that take a product for every text.
inline constexpr double kFreeGainDb = 0.1, kPaidGainDb = 1;

/// The scales of SmoothQuant (passes/smooth.h) for each group of the planned linears:
///
///     s_j = max|X_j|^α / max|W_j|^(1 - α)
///
/// rounded to powers of two, X over all that was seen and W over the weights of the group, with the α of 0.25, 0.5 and 0.75
/// that leaves the outputs on the `inputs`' samples most like those in full precision, where that is a gain. `inputs` are by
/// the names of values (study/layer_inputs.h).
std::vector<SmoothScales> choose_smooth_scales(const Model& model, const QuantizationPlan& plan,
                                               const std::map<std::string, LayerInput>& inputs,
                                               const CalibrationOptions& options, Context& context);

}  // namespace hone
