#pragma once

#include <string>

#include "hone/ir/graph.h"

/// Graphs as text, one line per node:
///
///     %x = input : f32[B, 4]
///     %w = parameter weight trainable : f32[2, 4]
///     %y = linear(%x, %w) : f32[B, 2]
///     %n = layer_norm(%y, %gamma, %beta) {eps=1e-12} : f32[B, 2]
///     output logits = %n
///
/// A parameter says its role (role.h) and whether it is trained. Names of letters, digits and `_ . - /` stand as they are,
/// others quoted: `%"a name"`. The second result of a node with several is `%name:1`. `parse_graph` reads it back.
namespace hone {

std::string to_string(const Graph& graph);
std::string to_string(const Node& node);
std::string to_string(const Attribute& attribute);

}  // namespace hone
