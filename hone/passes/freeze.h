#pragma once

#include <string>
#include <vector>

#include "hone/passes/pass.h"

namespace hone {

/// Makes the parameters whose names match any of the globs frozen: training leaves them as they are.
/// Throws `UserError` for a glob that matches none. Returns whether the graph changed.
bool freeze(Graph& graph, const std::vector<std::string>& globs);

/// Its record.
PassDef freeze_pass();

}  // namespace hone
