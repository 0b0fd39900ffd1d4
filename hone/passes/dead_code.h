#pragma once

#include "hone/passes/pass.h"

namespace hone {

/// Removes the operations and parameters that no output depends on. Inputs stay, because they are the graph's
/// signature. Requires a verified graph. Returns whether the graph changed.
bool remove_dead_code(Graph& graph);

PassDef remove_dead_code_pass();

}  // namespace hone
