#pragma once

#include "hone/formats/format.h"
#include "hone/frontends/huggingface/model.h"
#include "hone/runtime/context.h"

namespace hone {

/// Returns the plan of native quantization, in the order of the unquantized `graph`: linears with weights in `weight`
/// and inputs in `input`, the format that native products need (`native_input`); embedding and position tables
/// with weights in `weight` only, since they are not multiplied.
QuantizationPlan native_plan(const Graph& graph, const Format& weight, const Format& input);

/// Returns a packed copy of the model, quantized by that plan with plain rounding. `name` is used in errors. Throws
/// `UserError` for a quantized model, and as `native_input` does.
Model native_copy(const Model& model, const std::string& name, const Format& weight,
                  Context& context);

}  // namespace hone
