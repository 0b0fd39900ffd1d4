#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "hone/data/encoded_set.h"
#include "hone/formats/plan.h"
#include "hone/frontends/huggingface/model.h"
#include "hone/runtime/context.h"
#include "hone/study/smooth_scales.h"
#include "hone/train/calibration.h"

namespace hone {

/// Methods that reduce the error of rounding.
struct NativeMethods {
  bool smooth_scales = true;    ///< study/smooth_scales.h
  bool bias_correction = true;  ///< models/correct_biases.h
};

/// Makes native copies of one model by several plans from one calibration:
///
///     const QuantizationPlan plan = native_plan(unquantized_graph(model), weight, input);
///     const NativeCopies copies(model, plan, data.train, calibration, {}, context);
///     Model native = copies.make(plan);      // all layers of the plan, or some, or in other formats of weights
///
/// `model`, `texts` and `context` must outlive it.
class NativeCopies {
 public:
  /// Computes ranges and means of inputs, and smooth scales, on the calibration texts. `plan` contains all layers and
  /// their formats. Throws `UserError` as `calibrate` does.
  NativeCopies(const Model& model, const QuantizationPlan& plan, const EncodedSet& texts,
               const CalibrationRun& run, const NativeMethods& methods, Context& context);

  /// Returns the packed copy with this plan; the formats of inputs must be those of the constructor's plan. Applies
  /// smooth scales to each group with at least one planned linear.
  Model make(const QuantizationPlan& plan) const;

  /// Returns the groups of linears with their scales; empty without `NativeMethods::smooth_scales`.
  const std::vector<SmoothScales>& smooth_scales() const { return scales_; }

 private:
  void apply_smooth_scales(Model& model, const QuantizationPlan& plan) const;
  void set_input_states(Model& model) const;
  void correct(Model& model) const;

  const Model& model_;
  const EncodedSet& texts_;
  CalibrationRun run_;
  NativeMethods methods_;
  Context& context_;
  /// Means of the layers' inputs by the name of the value, smoothed values included.
  std::map<std::string, std::vector<double>> means_;
  std::vector<SmoothScales> scales_;
  /// States of the input quantizers, by the value that they read and their format.
  std::map<std::pair<std::string, std::string>, std::vector<Tensor>> states_;
};

}  // namespace hone
