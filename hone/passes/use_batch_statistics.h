#pragma once

#include "hone/passes/pass.h"

namespace hone {

/// For training: replaces each `batch_norm` by `batch_norm_training`, which normalizes by the mean and variance of
/// the batch, and adds `moving_average`, which updates the running statistics in place with its momentum, as PyTorch
/// does. Mean and variance must be parameters. Requires a verified graph. Throws `UserError` naming the operation if
/// they are none. Returns whether the graph changed.
bool use_batch_statistics(Graph& graph);

PassDef use_batch_statistics_pass();

}  // namespace hone
