#pragma once

#include "hone/passes/pass.h"

namespace hone {

/// Folds a `batch_norm` that is the only reader of a `conv2d` into the weight and bias of the convolution: the norm
/// is a factor and a shift per output, computed by applying it to 1 and to the convolution's bias. They are
/// operations on parameters, which `fold_parameters` computes once. For inference graphs. Results are rounded
/// differently. Requires a verified graph. Returns whether the graph changed.
bool fold_batch_norm(Graph& graph);

PassDef fold_batch_norm_pass();

}  // namespace hone
