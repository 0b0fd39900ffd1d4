#pragma once

#include <string>
#include <vector>

#include "hone/passes/pass.h"

namespace hone {

/// Makes the graph one that gives these outputs alone: what only others depend on goes, inputs too. So a graph with a loss
/// becomes one for predictions. Throws `UserError` for an output that is not there. Returns whether the graph changed.
bool keep_outputs(Graph& graph, const std::vector<std::string>& names);

/// Its record.
PassDef keep_outputs_pass();

}  // namespace hone
