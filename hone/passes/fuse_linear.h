#pragma once

#include "hone/passes/pass.h"

namespace hone {

/// Replaces a `linear` with a bias, the activation that follows it and what is added to that (a residual connection) by one
/// `fused_linear`, each where it is all that reads what came before. For inference graphs: `fused_linear` has no gradient.
/// No bit changes. Requires a verified graph.
/// Returns whether the graph changed.
bool fuse_linear(Graph& graph);

/// Its record.
PassDef fuse_linear_pass();

}  // namespace hone
