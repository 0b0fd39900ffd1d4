#pragma once

#include "hone/passes/pass.h"

namespace hone {

/// Removes the operations and parameters that no output depends on; inputs stay, they are the graph's signature.
/// Requires a verified graph. Returns whether the graph changed.
bool remove_dead_code(Graph& graph);

/// Its record.
PassDef remove_dead_code_pass();

}  // namespace hone
