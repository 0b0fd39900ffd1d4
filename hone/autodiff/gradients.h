#pragma once

#include <vector>

#include "hone/ir/graph.h"

namespace hone {

/// Reverse-mode differentiation, graph to graph. Adds to `graph` the nodes that compute d loss / d target for every
/// target and returns one value per target, of the target's type; an empty one where the loss does not depend on it.
///
/// `loss` is a scalar. This is the only place that adds up the gradients of several uses and undoes broadcasting; an
/// operation's own rule knows neither. Throws `UserError` naming an operation on the way that has no gradient.
std::vector<Value> add_gradients(Graph& graph, Value loss, const std::vector<Value>& targets);

}  // namespace hone
