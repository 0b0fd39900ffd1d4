#pragma once

#include "hone/ir/graph.h"

namespace hone {

/// Checks what every graph must hold: names are unique, every value is defined above its uses,
/// users and inputs are in step, types follow from the operations' rules, outputs exist. Throws
/// `InternalError` naming node and fact.
void verify(const Graph& graph);

}  // namespace hone
