#pragma once

#include <string>

#include "hone/frontends/huggingface/model.h"

/// What programs that know nothing of quantizers (transformers) make of a quantized model that was saved: the weights are
/// stored as the values they take, but inputs and outputs are quantized here alone.
namespace hone {

/// A sentence for people, without its full stop; "" for a plan of weights and biases only, which are the same everywhere.
std::string notice_for_other_programs(const QuantizationPlan& plan);

/// The model as they compute it. `rounded` has the weights that are saved (see `round_weights`).
Model without_quantizers(const Model& rounded);

}  // namespace hone
