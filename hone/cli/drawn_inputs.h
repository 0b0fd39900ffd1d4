#pragma once

#include <string>

#include "hone/cli/arguments.h"
#include "hone/jobs/draw.h"

namespace hone {

/// "input_ids,attention_mask", as the option called `option` has it. Throws `UsageError` for what is no input of a model.
DrawnInputs parse_drawn_inputs(const std::string& option, const std::string& text);

/// How much of a graph is drawn, see `DrawOptions`.
template <auto... kMembers>
OptionDef depth_option() {
  return option<kMembers...>("depth", "levels of modules to open (0: all)").from(0);
}
template <auto... kMembers>
OptionDef equal_layers_option() {
  return option<kMembers...>("equal_layers", "identical layers in a row to draw (0: all)")
      .from(0)
      .rare();
}

}  // namespace hone
