#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hone/jobs/choice.h"
#include "hone/jobs/native/native_model.h"
#include "hone/study/gates.h"

/// Which layers of a native model are left wider, so that it keeps its accuracy: those that cost most, in their order.
namespace hone {

/// The weights' format of the same kind with the 8 bits that products take; none where it has them, or no bits to choose.
std::optional<Format> wider_weights(const Format& format);

/// What a layer costs alone: the model with it in these formats and all else in fp32, beside fp32, on calibration texts.
struct LayerCost {
  std::string layer;
  LayerFormats formats;
  double snr_db = 0;  ///< of the outputs: `TaskComparison::snr_db`; infinite where nothing is lost
};

/// The costs of all layers of the plan in its formats and in wider ones, layer by layer.
std::vector<LayerCost> layer_costs(const Model& model, const NativeCopies& copies,
                                   const QuantizationPlan& plan, const EncodedSet& texts,
                                   const CalibrationRun& run, Context& context);

/// Whether that takes some seconds and no more, as far as multiply-adds tell.
bool costs_are_cheap(const Model& model, const QuantizationPlan& plan, const EncodedSet& texts,
                     const CalibrationRun& run);

/// One plan that was tried.
struct TriedWidening {
  std::int64_t steps = 0;
  GateVerdict verdict;

  Conclusion conclusion() const { return verdict.conclusion; }
  double change() const { return hardest(verdict).change; }
};
const Fields& fields_of(const TriedWidening*);

struct Widening {
  std::string part;                       ///< the split it was chosen on
  std::int64_t examples = 0;              ///< of that split
  std::int64_t effective_examples = 0;    ///< as some repeat others
  std::int64_t all_steps = 0;             ///< from the plan to fp32 everywhere
  std::int64_t steps = 0;                 ///< that were taken
  std::vector<TriedWidening> tried = {};  ///< in their order
  /// Even fp32 compared with itself would not pass on so few examples: nothing was widened.
  bool too_few_examples = false;
};
const Fields& fields_of(const Widening*);

/// The plan after the first of `steps`: each takes the layer to its next wider formats, fp32 at last. The layers that cost
/// most come first, whatever their width.
QuantizationPlan widened(const QuantizationPlan& plan, const std::vector<LayerCost>& costs,
                         std::int64_t steps);

/// The fewest steps after which the model is shown to pass all gates beside fp32 on the part that choices are made on, `choice_part`, by bisection: more steps are taken to lose no more.
Widening choose_widening(const Model& model, const NativeCopies& copies,
                         const QuantizationPlan& plan, const std::vector<LayerCost>& costs,
                         const EncodedSplits& data, std::int64_t batch_size,
                         const std::vector<Gate>& gates, Context& context);

/// Throws `UserError` where there is no part to choose on, or it is the one that is reported.
void check_choice_part(const EncodedSplits& data);

}  // namespace hone
