#pragma once

#include "hone/passes/pass.h"

namespace hone {

/// Replaces every `dropout(x)` by `x`, lets each `attention` keep all its weights, and removes the random key, an input, when
/// nothing else reads it: an inference graph must not ask for one. Requires a verified graph. Ensures that no `dropout` is left
/// and all other nodes are untouched.
/// Returns whether the graph changed.
bool remove_dropout(Graph& graph);

/// Its record.
PassDef remove_dropout_pass();

}  // namespace hone
