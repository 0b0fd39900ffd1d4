#pragma once

#include <string>

#include "hone/cli/arguments.h"
#include "hone/jobs/draw.h"

namespace hone {

/// Parses "input_ids,attention_mask", the value of the option named `option`. Throws `UsageError` for unknown inputs.
DrawnInputs parse_graph_inputs(const std::string& option, const std::string& text);

/// Options for how much of a graph to draw, see `DrawOptions`.
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
