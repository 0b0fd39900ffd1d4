#pragma once

#include "hone/passes/pass.h"

namespace hone {

/// Replaces every `dropout(x)` by `x`, disables the dropout of every `attention`, and removes the input with the
/// random key if nothing else reads it, so that an inference graph needs none. Requires a verified graph. All other
/// nodes stay unchanged. Returns whether the graph changed.
bool remove_dropout(Graph& graph);

PassDef remove_dropout_pass();

}  // namespace hone
