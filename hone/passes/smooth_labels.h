#pragma once

#include "hone/passes/pass.h"

namespace hone {

/// Applies label smoothing to the output `loss`, a cross entropy: a share of each label is spread over all classes,
/// as in Hugging Face's LabelSmoother:
///
///     loss = (1 - factor) cross entropy + factor mean over rows and classes of -log softmax(logits)
///
/// Throws `UserError` if the loss is no cross entropy, and for a factor outside [0, 1). Returns whether the graph
/// changed, which it does not for a factor of 0.
bool smooth_labels(Graph& graph, double factor);

PassDef smooth_labels_pass();

}  // namespace hone
