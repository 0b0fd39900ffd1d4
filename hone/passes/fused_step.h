#pragma once

#include <optional>
#include <string>

#include "hone/ir/graph.h"

/// Finds the operations after a product that can be fused into it: fuse_linear.h, fuse_conv2d.h.
namespace hone {

/// Returns the name of an activation in `fused_linear` and `fused_conv2d`; none if they do not support it.
std::optional<std::string> activation_name(const Node& node);

/// Returns the only reader of a node; null if there is none or several.
Node* only_reader(const Graph& graph, const Node& node);

/// Returns the other operand if `node` adds a value of the same type to `summand`; else an empty value.
Value residual_of(const Node& node, const Node& summand);

}  // namespace hone
