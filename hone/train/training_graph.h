#pragma once

#include "hone/ir/graph.h"
#include "hone/runtime/session.h"
#include "hone/tensor/parameter_store.h"
#include "hone/train/optimizer.h"

namespace hone {

/// Whether operations are made fewer and larger ones around the gradients, or stay as the model has them, which is only of use
/// to hold against.
enum class Fusing : std::uint8_t { all, none };

/// Makes a graph with the output `loss` into one whole training step: the gradients of its trainable parameters, their
/// common norm, and an AdamW update of each in place.
///
/// New inputs: `learning_rate` f32[] and `step` i64[] (from 1). New output: `grad_norm` f32[], before clipping. The
/// moments become parameters called "adamw.m.<parameter>" and "adamw.v.<parameter>" (see `add_optimizer_state`).
/// Throws `UserError` when nothing is trainable.
///
/// Each weight W of `options.scored` has a mask M (hone/passes/prune.h) and scores S, a parameter called "movement.<weight>", which
/// gradient descent trains "straight through" the mask (Sanh, Wolf and Rush, "Movement pruning", arXiv 2005.07683, section 4).
/// Scores of what is masked change too; weights that are masked have the gradient 0:
///
///     d loss / d S = W d loss / d (W ⊙ M),   S = S - learning_rate d loss / d S
///     d loss / d W = M ⊙ d loss / d (W ⊙ M)
///
/// S changes before W, by a gradient that is not clipped, at the rate of the run without `options.rate_factors`.
void add_training_step(Graph& graph, const AdamWOptions& options, Fusing fusing = Fusing::all);

/// The same, fused, of which the gradients of large tables are the rows that a batch has (`embedding_gradient_by_row`), where the
/// session has kernels for that: zeros of all other rows are neither kept nor read.
void add_training_step(Graph& graph, const AdamWOptions& options, const Session& session);

/// Makes a graph with the output `loss` into a part of a training step, whose batches come one after the other: it adds the
/// gradients of `share` times the loss to sums in place, parameters called "adamw.sum.<parameter>".
///
/// New inputs: `share` f32[], of this batch in the step, and `first` i64[], not 0 where it begins one. Of `options` only
/// `scored` matters. Throws as `add_training_step`.
void add_gradient_sums(Graph& graph, const AdamWOptions& options = {});

/// What ends a step whose gradients such a graph has summed: their norm and the update, with the inputs and outputs of
/// `add_training_step`.
Graph update_of_sums(const Graph& summing, const AdamWOptions& options);

/// The parameter that has the scores of a weight of `AdamWOptions::scored`, f32 of its shape.
std::string movement_scores_of(std::string_view weight);

/// The parameter that has the momentum of another: the first moment, f32 of its shape. Where that and the gradient are 0, only weight
/// decay changes the parameter.
std::string first_moment_of(std::string_view parameter);

/// Puts zeros into `parameters` for every moment, score and sum that the graph needs and that is not there.
void add_optimizer_state(const Graph& training_graph, ParameterStore& parameters);

/// Takes them out again.
void remove_optimizer_state(ParameterStore& parameters);
/// The sums alone, which between two steps are of no use to anybody.
void remove_gradient_sums(ParameterStore& parameters);

}  // namespace hone
