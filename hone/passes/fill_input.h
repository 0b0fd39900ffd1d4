#pragma once

#include <string_view>

#include "hone/ir/graph.h"

namespace hone {

/// Replaces the input called `name` by a tensor of its type that is full of `value`, as large as the input called `like`.
/// Throws `UserError` for inputs that are not there, or of different shapes. Returns whether the graph changed: not where
/// nothing reads the input.
bool fill_input(Graph& graph, std::string_view name, std::string_view like, double value);

}  // namespace hone
