#pragma once

#include "hone/passes/pass.h"

namespace hone {

/// Replaces a `conv2d` and the `batch_norm` that alone reads it by a `conv2d` whose weight and bias do both: the norm is a factor
/// and a shift for each output, which are what it makes of 1 and of the convolution's bias. They stand in the graph as operations
/// on parameters, which `fold_parameters` computes once. For inference graphs. Results round elsewhere. Requires a verified graph.
/// Returns whether the graph changed.
bool fold_batch_norm(Graph& graph);

/// Its record.
PassDef fold_batch_norm_pass();

}  // namespace hone
