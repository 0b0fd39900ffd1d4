#pragma once

#include "hone/passes/pass.h"

namespace hone {

/// Options of knowledge distillation (Hinton, Vinyals and Dean, "Distilling the knowledge in a neural network", arXiv
/// 1503.02531).
struct Distillation {
  double temperature = 2;  ///< T, above 0
  double alpha = 0.5;      ///< weight of the label loss, within [0, 1]
};

/// The input that `distill` adds: logits of the teacher, f32[B, C].
inline constexpr const char* kTeacherLogits = "parent_logits";

/// Adds the teacher's predictions to the output `loss`:
///
///     loss = alpha loss + (1 - alpha) T^2 KL(p || q),   p = softmax(parent_logits / T),   q = softmax(logits / T)
///
/// KL, the sum of p log(p / q), is averaged over rows with the weights of the loss. The factor T^2 keeps its
/// gradients as large as those of the labels for every T (section 2 of the paper). The new input `parent_logits` has
/// the type of the logits. Throws `UserError` if the graph has no cross entropy, and for invalid options. Returns
/// true.
bool distill(Graph& graph, const Distillation& options);

PassDef distill_pass();

}  // namespace hone
