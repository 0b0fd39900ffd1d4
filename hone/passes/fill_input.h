#pragma once

#include <string_view>

#include "hone/ir/graph.h"

namespace hone {

/// Replaces the input `name` by a tensor of its type filled with `value`, as large as the input `like`. Throws
/// `UserError` for missing inputs, or inputs of different shapes. Returns whether the graph changed; it does not if
/// nothing reads the input.
bool fill_input(Graph& graph, std::string_view name, std::string_view like, double value);

}  // namespace hone
