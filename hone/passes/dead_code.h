#pragma once

#include "hone/ir/graph.h"

namespace hone {

/// Removes the operations and parameters that no output depends on; inputs stay, they are the graph's signature.
/// Requires a verified graph. Returns whether the graph changed.
bool remove_dead_code(Graph& graph);

}  // namespace hone
