#pragma once

#include "hone/passes/pass.h"

namespace hone {

/// Of training steps: replaces the `dropout` in front of an adapter's first factor, the product of both and their gradients by
/// `dropped_linear` and `dropped_linear_gradient`, where nothing else reads what they give each other. What is left of an input
/// is not kept for the backward pass then. Gradients sum in another order. Requires a verified graph whose gradients are taken.
/// Returns whether the graph changed.
bool fuse_dropout(Graph& graph);

/// Its record.
PassDef fuse_dropout_pass();

}  // namespace hone
