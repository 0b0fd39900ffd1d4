#pragma once

#include <string>
#include <vector>

#include "hone/passes/pass.h"

namespace hone {

/// Lets whatever reads one of the linears that the globs name read what it read (identity in its place), and its parameters go,
/// where nothing else reads them. Throws `UserError`, before anything changes, for a glob that names no linear and for one
/// whose output has another type than its input. Requires a verified graph.
/// Returns whether the graph changed.
bool replace_by_identity(Graph& graph, const std::vector<std::string>& names);

/// Its record.
PassDef replace_by_identity_pass();

}  // namespace hone
