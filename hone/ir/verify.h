#pragma once

#include "hone/ir/graph.h"

namespace hone {

/// Checks the invariants of a graph: names are unique, every value is defined before its uses, users and inputs agree,
/// types follow from the operations' rules, outputs exist. Throws `InternalError` with the node and the violated
/// invariant.
void verify(const Graph& graph);

}  // namespace hone
