#pragma once

#include "hone/ir/graph.h"
#include "hone/runtime/session.h"
#include "hone/tensor/parameter_store.h"
#include "hone/train/optimizer.h"

namespace hone {

/// Whether to fuse operations around the gradients. `none` keeps the model's operations, for comparisons in tests.
enum class Fusing : std::uint8_t { all, none };

/// Turns a graph with the output `loss` into a whole training step: the gradients of its trainable parameters, their
/// common norm, and an in-place AdamW update of each.
///
/// New inputs: `learning_rate` f32[] and `step` i64[] (from 1). New output: `grad_norm` f32[], before clipping. The
/// moments become parameters named "adamw.m.<parameter>" and "adamw.v.<parameter>" (see `add_optimizer_state`).
/// Throws `UserError` if nothing is trainable.
///
/// Each weight W of `options.scored` has a mask M (hone/passes/prune.h) and scores S, a parameter named
/// "movement.<weight>", which gradient descent trains "straight through" the mask (Sanh, Wolf and Rush, "Movement
/// pruning", arXiv 2005.07683, section 4). Masked weights have the gradient 0, but their scores still change:
///
///     d loss / d S = W d loss / d (W ⊙ M),   S = S - learning_rate d loss / d S
///     d loss / d W = M ⊙ d loss / d (W ⊙ M)
///
/// S is updated before W, with the unclipped gradient, at the learning rate of the run without `options.rate_factors`.
void add_training_step(Graph& graph, const AdamWOptions& options, Fusing fusing = Fusing::all);

/// Adds a fused training step. The gradients of large tables cover only rows that occur in the batch
/// (`embedding_gradient_by_row`), if the session has kernels for that; zeros of other rows are neither stored nor
/// read.
void add_training_step(Graph& graph, const AdamWOptions& options, const Session& session);

/// Turns a graph with the output `loss` into one of several batches of a training step: it adds the gradients of
/// `share` times the loss in place to sums, parameters named "adamw.sum.<parameter>".
///
/// New inputs: `share` f32[], the share of this batch in the step, and `first` i64[], nonzero for the first batch.
/// Only `options.scored` matters. Throws as `add_training_step`.
void add_gradient_sums(Graph& graph, const AdamWOptions& options = {});

/// Returns the graph that ends a step whose gradients such a graph has summed: their norm and the update, with the
/// inputs and outputs of `add_training_step`.
Graph update_of_sums(const Graph& summing, const AdamWOptions& options);

/// Returns the name of the parameter with the scores of a weight of `AdamWOptions::scored`, f32 of its shape.
std::string movement_scores_of(std::string_view weight);

/// Returns the name of the parameter with the first moment of another, f32 of its shape. If that and the gradient are
/// 0, only weight decay changes the parameter.
std::string first_moment_of(std::string_view parameter);

/// Adds to `parameters` a zero tensor for every missing moment, score and sum that the graph needs.
void add_optimizer_state(const Graph& training_graph, ParameterStore& parameters);

/// Removes them.
void remove_optimizer_state(ParameterStore& parameters);
/// Removes only the sums, which are not needed between steps.
void remove_gradient_sums(ParameterStore& parameters);

}  // namespace hone
