#pragma once

#include <string>

#include "hone/formats/plan.h"

/// What programs that know nothing of quantizers (transformers) make of a quantized model that was saved: the weights are
/// stored as the values they take, but inputs and outputs are quantized here alone: `without_quantizers` (models/transform.h) of
/// the model that is saved is what they compute.
namespace hone {

/// A sentence for people, without its full stop; "" for a plan of weights and biases only, which are the same everywhere.
std::string notice_for_other_programs(const QuantizationPlan& plan);

}  // namespace hone
