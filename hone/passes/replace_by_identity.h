#pragma once

#include <string>
#include <vector>

#include "hone/passes/pass.h"

namespace hone {

/// Replaces the linears that the globs match by the identity: their readers read their inputs instead, and their
/// parameters are removed if nothing else reads them. Throws `UserError`, before anything changes, for a glob that
/// matches no linear and for a linear whose output type differs from its input type. Requires a verified graph.
/// Returns whether the graph changed.
bool replace_by_identity(Graph& graph, const std::vector<std::string>& names);

PassDef replace_by_identity_pass();

}  // namespace hone
