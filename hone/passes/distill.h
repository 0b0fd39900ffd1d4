#pragma once

#include "hone/passes/pass.h"

namespace hone {

/// How a model learns from what another one says of the same texts (Hinton, Vinyals and Dean, "Distilling the knowledge in a
/// neural network", arXiv 1503.02531).
struct Distillation {
  double temperature = 2;  ///< T, above 0
  double alpha = 0.5;      ///< what the labels' own loss weighs, within [0, 1]
};

/// The input that `distill` adds: logits of the parent, f32[B, C].
inline constexpr const char* kParentLogits = "parent_logits";

/// Adds the parent's answers to the output `loss`:
///
///     loss = alpha loss + (1 - alpha) T^2 KL(p || q),   p = softmax(parent_logits / T),   q = softmax(logits / T)
///
/// KL, sum of p log(p / q), is the mean over rows, weighed as the loss weighs them; by T^2 its gradients stay as large as
/// those of the labels whatever T is (section 2 there). The new input `parent_logits` is of the type of the logits. Throws
/// `UserError` where the graph has no cross entropy, and for options without sense. Returns true.
bool distill(Graph& graph, const Distillation& options);

/// Its record.
PassDef distill_pass();

}  // namespace hone
