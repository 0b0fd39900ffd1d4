#pragma once

#include <optional>
#include <string>

#include "hone/ir/graph.h"

/// What passes look for behind a product that can do it, too: fuse_linear.h, fuse_conv2d.h.
namespace hone {

/// What is called so by `fused_linear` and `fused_conv2d`; none: it is no activation that they know.
std::optional<std::string> activation_name(const Node& node);

/// The operation that alone reads a node; null: none, or another one does, too.
Node* only_user(const Graph& graph, const Node& node);

/// What `node`, an addition of two values of one type, adds to that of `summand`; empty: it is none.
Value residual_of(const Node& node, const Node& summand);

}  // namespace hone
