#pragma once

#include "hone/ir/graph.h"
#include "hone/tensor/parameter_store.h"
#include "hone/train/optimizer.h"

namespace hone {

/// Makes a graph with the output `loss` into one whole training step: the gradients of its trainable parameters, their
/// common norm, and an AdamW update of each in place.
///
/// New inputs: `learning_rate` f32[] and `step` i64[] (from 1). New output: `grad_norm` f32[], before clipping. The
/// moments become parameters called "adamw.m.<parameter>" and "adamw.v.<parameter>" (see `add_optimizer_state`).
/// Throws `UserError` when nothing is trainable.
void add_training_step(Graph& graph, const AdamWOptions& options);

/// Puts zero moments into `parameters` for every one that the graph needs and that is not there.
void add_optimizer_state(const Graph& training_graph, ParameterStore& parameters);

/// Takes the moments out again.
void remove_optimizer_state(ParameterStore& parameters);

}  // namespace hone
