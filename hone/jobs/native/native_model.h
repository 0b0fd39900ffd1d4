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

/// What is done beside rounding.
struct NativeMethods {
  bool smooth_scales = true;    ///< study/smooth_scales.h
  bool bias_correction = true;  ///< models/correct_biases.h
};

/// Makes native copies of one model by several plans, of which it looks at texts once:
///
///     const NativeCopies copies(model, native_plan(plain_graph(model), weight, input), data.train, calibration, {}, context);
///     Model native = copies.make(plan);      // all layers of the plan, or some, or in other formats of weights
///
/// Model, texts and context must outlive it.
class NativeCopies {
 public:
  /// Ranges and means of inputs, and smooth scales, come from the texts that calibration looks at; `plan` names all layers and
  /// their formats. Throws `UserError` as `calibrate` does.
  NativeCopies(const Model& model, const QuantizationPlan& plan, const EncodedSet& texts,
               const CalibrationRun& run, const NativeMethods& methods, Context& context);

  /// The copy whose layers have the formats of this plan, packed; inputs have those of the constructor's plan. Scales are put
  /// in for groups of which any linear has formats.
  Model make(const QuantizationPlan& plan) const;

  /// The groups of linears with the scales that were found; none where nobody asked for them.
  const std::vector<SmoothScales>& smooth_scales() const { return scales_; }

 private:
  void smooth_for(Model& model, const QuantizationPlan& plan) const;
  void settle_inputs(Model& model) const;
  void correct(Model& model) const;

  const Model& model_;
  const EncodedSet& texts_;
  CalibrationRun run_;
  NativeMethods methods_;
  Context& context_;
  /// Of what layers read, by the name of the value, that of a product by scales too.
  std::map<std::string, std::vector<double>> means_;
  std::vector<SmoothScales> scales_;
  /// States of the quantizers of inputs, by the value that they read and their format.
  std::map<std::pair<std::string, std::string>, std::vector<Tensor>> states_;
};

}  // namespace hone
