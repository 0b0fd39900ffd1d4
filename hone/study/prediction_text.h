#pragma once

#include <span>
#include <string>
#include <vector>

#include "hone/data/data_set.h"
#include "hone/metrics/task.h"

/// Readable texts for a prediction and its target.
namespace hone {

/// Returns the prediction as text: the class of the largest output; the predicted labels, separated by commas, or "none
/// of them"; the number, or "a 0.25, b 1.5" for several; "none (not a number)" if an output is not finite.
/// `scheme.names` name the outputs.
std::string prediction_text(const LabelScheme& scheme, std::span<const float> outputs);

/// Returns the target of an example in the same form.
std::string truth_text(const LabelScheme& scheme, const Example& example);

}  // namespace hone
