#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "hone/data/encoded_set.h"
#include "hone/formats/plan.h"
#include "hone/frontends/huggingface/model.h"
#include "hone/runtime/context.h"
#include "hone/train/calibration.h"

namespace hone {

/// Makes native copies of one model by several plans, of which it looks at texts once:
///
///     const NativeCopies copies(model, native_plan(plain_graph(model), weight, input), data.train, calibration, context);
///     Model native = copies.make(plan);      // all layers of the plan, or some, or in other formats of weights
///
/// Model, texts and context must outlive it.
class NativeCopies {
 public:
  /// Ranges of inputs come from the texts that calibration looks at; `plan` names all layers and the formats of their
  /// inputs. Throws `UserError` as `calibrate` does.
  NativeCopies(const Model& model, const QuantizationPlan& plan, const EncodedSet& texts,
               const CalibrationRun& run, Context& context);

  /// The copy whose layers have the formats of this plan, packed; inputs have those of the constructor's plan.
  Model make(const QuantizationPlan& plan) const;

 private:
  void settle_inputs(Model& model) const;

  const Model& model_;
  const EncodedSet& texts_;
  CalibrationRun run_;
  Context& context_;
  /// States of the quantizers of inputs, by the value that they read and their format.
  std::map<std::pair<std::string, std::string>, std::vector<Tensor>> states_;
};

}  // namespace hone
