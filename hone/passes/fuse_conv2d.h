#pragma once

#include "hone/passes/pass.h"

namespace hone {

/// Replaces a `conv2d` with a bias, what is added to it (a residual connection) and the activation of that by one `fused_conv2d`,
/// each where it is all that reads what came before. For inference graphs: `fused_conv2d` has no gradient. Requires a verified
/// graph.
/// Returns whether the graph changed.
bool fuse_conv2d(Graph& graph);

/// Its record.
PassDef fuse_conv2d_pass();

}  // namespace hone
