#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hone/jobs/choice.h"
#include "hone/jobs/native/native_model.h"
#include "hone/study/gates.h"

/// Chooses layers of a native model that get wider formats to keep its accuracy, costliest first.
namespace hone {

/// Returns the same format with 8 bits, as native products have; none if it has at least 8 bits or no `bits` option.
std::optional<Format> wider_weights(const Format& format);

/// The cost of one layer: a model with only this layer in these formats, against fp32, on calibration texts.
struct LayerCost {
  std::string layer;
  LayerFormats formats;
  double snr_db = 0;  ///< of the outputs, `TaskComparison::snr_db`; infinite if nothing is lost
};

/// Measures all layers of the plan in its formats and in wider ones, layer by layer.
std::vector<LayerCost> layer_costs(const Model& model, const NativeCopies& copies,
                                   const QuantizationPlan& plan, const EncodedSet& texts,
                                   const CalibrationRun& run, Context& context);

/// Returns whether `layer_costs` takes only seconds, estimated from its FLOPs.
bool costs_are_cheap(const Model& model, const QuantizationPlan& plan, const EncodedSet& texts,
                     const CalibrationRun& run);

/// A plan that was tried.
struct WideningTrial {
  std::int64_t steps = 0;
  GateVerdict verdict;

  Conclusion conclusion() const { return verdict.conclusion; }
  double change() const { return hardest(verdict).change; }
};
const Fields& fields_of(const WideningTrial*);

struct Widening {
  std::string part;                       ///< the split it was chosen on
  std::int64_t examples = 0;              ///< of that split
  std::int64_t effective_examples = 0;    ///< fewer if some repeat others
  std::int64_t all_steps = 0;             ///< from the plan to fp32 everywhere
  std::int64_t steps = 0;                 ///< steps that were taken
  std::vector<WideningTrial> tried = {};  ///< in the order of the trials
  /// Too few examples for fp32 compared with itself to pass, so nothing was widened.
  bool too_few_examples = false;
};
const Fields& fields_of(const Widening*);

/// Returns the plan after the first `steps` steps. Each step takes a layer to its next wider formats, finally fp32.
/// Steps are ordered by cost, the costliest first.
QuantizationPlan widened(const QuantizationPlan& plan, const std::vector<LayerCost>& costs,
                         std::int64_t steps);

/// Finds by bisection the fewest steps after which the model is shown to pass all gates against fp32 on `choice_split`.
/// Assumes that more steps never lose more.
Widening choose_widening(const Model& model, const NativeCopies& copies,
                         const QuantizationPlan& plan, const std::vector<LayerCost>& costs,
                         const EncodedSplits& data, std::int64_t batch_size,
                         const std::vector<Gate>& gates, Context& context);

/// Throws `UserError` if there is no split to choose on, or if it is also the reported one.
void check_choice_split(const EncodedSplits& data);

}  // namespace hone
