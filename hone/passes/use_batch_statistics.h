#pragma once

#include "hone/passes/pass.h"

namespace hone {

/// For training: replaces each `batch_norm` by `batch_norm_training`, which normalizes by mean and variance of the batch, and
/// lets `moving_average` bring its running ones, in place, nearer to those by its momentum, as PyTorch does. Mean and variance must
/// be parameters. Requires a verified graph. Throws `UserError` naming the operation where they are none.
/// Returns whether the graph changed.
bool use_batch_statistics(Graph& graph);

/// Its record.
PassDef use_batch_statistics_pass();

}  // namespace hone
