#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "hone/frontends/huggingface/model.h"
#include "hone/runtime/run_passes.h"

/// Permanent changes of a model: its graph is changed and verified, the model is updated to match it, and the history
/// records the change. `run_passes` makes changes for a single run on a copy of the graph, without history.
namespace hone {

/// Runs a pass given as text (see passes/pass.h). Throws `UserError` like `run_passes`, and if the pass is disabled.
void transform(Model& model, std::string_view pass, const Session& session);

/// Makes a change that is not a pass of the tables. It can be disabled and shown like a pass called `name`; its history
/// entry is `text`, or else the name. `change` returns whether it changed anything.
void change_model(Model& model, std::string_view name, const std::function<bool()>& change,
                  const Session& session, const std::string& text = {});

/// Inserts all quantizers of the plan into the graph. The history records the equivalent `quantize(…)` passes.
/// Calibration sets their states. Throws `UserError` like `quantize`.
void quantize_model(Model& model, const QuantizationPlan& plan, const Session& session);

/// Returns the model without its quantizers and their states.
Model without_quantizers(const Model& model, const Session& session);

/// Returns the model as programs compute it that know only its config and fp32 weights: weights have the values of
/// their codes, inputs are not rounded, masks and smooth scales are merged into the weights, and dropout follows the
/// config. Other differences from the config's graph stay (`transformers_loading`).
Model for_other_programs(const Model& model, const Session& session);

}  // namespace hone
