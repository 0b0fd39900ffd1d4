#pragma once

#include <vector>

#include "hone/ir/graph.h"

namespace hone {

/// Reverse-mode differentiation of graphs. Adds the nodes to `graph` that compute d loss / d target for every target.
/// Returns one value of the target's type per target, empty if the loss does not depend on it.
///
/// `loss` is a scalar. Sums over several uses and the reversal of broadcasting happen only here; the gradient rules of
/// operations ignore both. Throws `UserError` with the name of an operation on the path that has no gradient.
std::vector<Value> add_gradients(Graph& graph, Value loss, const std::vector<Value>& targets);

}  // namespace hone
