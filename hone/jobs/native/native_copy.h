#pragma once

#include "hone/formats/format.h"
#include "hone/frontends/huggingface/model.h"
#include "hone/runtime/context.h"

namespace hone {

/// The plan of low precision as it is run: linears with weights in `weight` and inputs in `input`, the format that makes
/// products of codes (`native_input`), and tables of embeddings and positions with weights in `weight`, for they are only
/// read. In the order of the graph, which is an unquantized one.
QuantizationPlan native_plan(const Graph& graph, const Format& weight, const Format& input);

/// A packed copy of the model, called `name`, by that plan and by rounding alone. Throws `UserError` for a model that is quantized already, and where there is no such
/// format.
Model native_copy(const Model& model, const std::string& name, const Format& weight,
                  Context& context);

}  // namespace hone
