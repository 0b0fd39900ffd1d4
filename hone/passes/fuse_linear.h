#pragma once

#include "hone/passes/pass.h"

namespace hone {

/// Fuses a `linear` with a bias, the activation after it and the addition of a residual into one `fused_linear`, as
/// far as each step is the only reader of the one before. For inference graphs: `fused_linear` has no gradient.
/// Results are bit-identical. Requires a verified graph. Returns whether the graph changed.
bool fuse_linear(Graph& graph);

PassDef fuse_linear_pass();

}  // namespace hone
