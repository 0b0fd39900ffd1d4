#pragma once

#include <string>

#include "hone/jobs/draw.h"

namespace hone {

/// "input_ids,attention_mask", as the option called `option` has it. Throws `UsageError` for what is no input of a model.
DrawnInputs parse_drawn_inputs(const std::string& option, const std::string& text);

}  // namespace hone
