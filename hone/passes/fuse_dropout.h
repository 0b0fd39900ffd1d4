#pragma once

#include "hone/passes/pass.h"

namespace hone {

/// In training steps, replaces the `dropout` before an adapter's first factor, their product and their gradients by
/// `dropped_linear` and `dropped_linear_gradient`, if nothing else reads the values between them. The dropped-out
/// input is then not stored for the backward pass. Gradients are summed in another order. Requires a verified graph
/// with gradients. Returns whether the graph changed.
bool fuse_dropout(Graph& graph);

PassDef fuse_dropout_pass();

}  // namespace hone
