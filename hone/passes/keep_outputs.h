#pragma once

#include <string>
#include <vector>

#include "hone/passes/pass.h"

namespace hone {

/// Reduces the graph to these outputs and everything they depend on, including inputs. This turns a graph with a loss
/// into one for predictions. Throws `UserError` for a missing output. Returns whether the graph changed.
bool keep_outputs(Graph& graph, const std::vector<std::string>& names);

PassDef keep_outputs_pass();

}  // namespace hone
