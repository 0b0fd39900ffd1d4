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
/// A parameter line contains its role (role.h) and `trainable` if it is trained. Names other than letters, digits and
/// `_ . - /` are quoted: `%"a name"`. `%name:1` is the second result of a node. `parse_graph` reads the text back.
namespace hone {

std::string to_string(const Graph& graph);
std::string to_string(const Node& node);
std::string to_string(const Attribute& attribute);

}  // namespace hone
