#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "hone/frontends/huggingface/model.h"
#include "hone/runtime/run_passes.h"

/// Changes of a model for good: its graph is another afterwards, verified, what stands beside the graph follows it, and its
/// history tells what was done. Changes for a single run are made on a copy of the graph, by `run_passes`, and not told.
namespace hone {

/// Runs a pass, as text (see passes/pass.h). Throws `UserError` as `run_passes`, and where the pass is to be left out.
void transform(Model& model, std::string_view pass, const Session& session);

/// Makes a change that no pass of the tables makes, and that is left out and shown as one called `name`; the history tells it
/// as `text`, or by the name. `change` says whether it changed anything.
void change_model(Model& model, std::string_view name, const std::function<bool()>& change,
                  const Session& session, const std::string& text = {});

/// Puts the quantizers of the plan into the graph, in one go; the history tells it as the passes `quantize(…)` that would do
/// the same. Their states come from calibration. Throws `UserError` as `quantize` does.
void quantize_model(Model& model, const QuantizationPlan& plan, const Session& session);

/// The same model without its quantizers and their states.
Model without_quantizers(const Model& model, const Session& session);

/// The model as programs compute it that know its config and fp32 weights alone: weights have the values of their codes, what layers read is
/// not rounded, masks and smooth scales are in the weights, and dropout is as the config has it. What else the config does not build stays
/// (`transformers_loading`).
Model for_other_programs(const Model& model, const Session& session);

}  // namespace hone
