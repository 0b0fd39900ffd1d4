#pragma once

#include <map>
#include <string>
#include <vector>

#include "hone/formats/plan.h"
#include "hone/frontends/huggingface/model.h"
#include "hone/passes/smooth.h"
#include "hone/study/layer_inputs.h"

namespace hone {

/// Scales for a group, and their effect.
struct SmoothScales {
  SmoothGroup group;
  double alpha = 0;           ///< how much of the range moves to the weights
  std::vector<float> scales;  ///< (K), powers of two; empty: none improves the outputs
  /// Signal-to-noise ratio, in dB, of the outputs of the group's linears with rounded weights and inputs, without
  /// scales and with the best: the mean over the linears of noise relative to signal.
  double snr_before_db = 0, snr_after_db = 0;

  bool applies() const { return !scales.empty(); }
};

/// The smallest gain for which scales are applied: for free ones, and for those that cost a product for every text.
inline constexpr double kFreeGainDb = 0.1, kPaidGainDb = 1;

/// Returns the scales of SmoothQuant (passes/smooth.h) for each group of the planned linears:
///
///     s_j = max|X_j|^α / max|W_j|^(1 - α)
///
/// rounded to powers of two. X is over all observed inputs, W over the weights of the group. α is the one of 0.25, 0.5
/// and 0.75 with the least error of the outputs on the samples of `inputs`, if it improves them. `inputs` are by value
/// name (study/layer_inputs.h).
std::vector<SmoothScales> choose_smooth_scales(const Model& model, const QuantizationPlan& plan,
                                               const std::map<std::string, LayerInput>& inputs,
                                               const CalibrationOptions& options, Context& context);

}  // namespace hone
