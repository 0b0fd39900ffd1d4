#pragma once

#include <string>

#include "hone/cli/arguments.h"
#include "hone/jobs/draw.h"

namespace hone {

/// "input_ids,attention_mask", as the option called `option` has it. Throws `UsageError` for what is no input of a model.
DrawnInputs parse_drawn_inputs(const std::string& option, const std::string& text);

/// How much of a graph is drawn, see `DrawOptions`.
void declare_detail(CLI::App& app, std::int64_t& equal_layers, std::int64_t& depth);

}  // namespace hone
