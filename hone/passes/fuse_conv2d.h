#pragma once

#include "hone/passes/pass.h"

namespace hone {

/// Fuses a `conv2d` with a bias, the addition of a residual and the activation after it into one `fused_conv2d`, as
/// far as each step is the only reader of the one before. For inference graphs: `fused_conv2d` has no gradient.
/// Requires a verified graph. Returns whether the graph changed.
bool fuse_conv2d(Graph& graph);

PassDef fuse_conv2d_pass();

}  // namespace hone
