#pragma once

#include <string>
#include <vector>

#include "hone/passes/pass.h"

namespace hone {

/// Freezes the parameters whose names match any of the globs, so that training does not change them. Throws
/// `UserError` for a glob that matches none. Returns whether the graph changed.
bool freeze(Graph& graph, const std::vector<std::string>& globs);

PassDef freeze_pass();

}  // namespace hone
