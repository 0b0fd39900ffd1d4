#pragma once

#include "hone/passes/pass.h"

namespace hone {

/// Makes the output `loss`, a cross entropy, that of labels of which a share goes to all classes alike, as Hugging Face's
/// LabelSmoother:
///
///     loss = (1 - factor) cross entropy + factor mean over rows and classes of -log softmax(logits)
///
/// Throws `UserError` where the loss is no cross entropy, and for a factor that is not within [0, 1). Returns whether the
/// graph changed: by a factor of 0 it does not.
bool smooth_labels(Graph& graph, double factor);

/// Its record.
PassDef smooth_labels_pass();

}  // namespace hone
