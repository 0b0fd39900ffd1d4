#pragma once

#include "hone/passes/pass.h"

namespace hone {

/// Replaces the steps of an attention, `matmul(dropout(softmax(matmul(query, key) scaled + mask)), value)` over (B,
/// N, tokens, size), by one `attention`, which never stores the scores of all pairs of tokens, and reads heads before
/// they are transposed. The scale may apply to the product, the query, the key or several of them; dropout and mask
/// may be absent. Weights are dropped as before; the gradient of `attention` recomputes them instead of storing them.
/// Not fused: steps with another operation in between (a quantizer), steps whose results have other readers or are
/// outputs, and masks that differ between queries. Logits change in their last bits. Requires a verified graph.
/// Returns whether the graph changed.
bool fuse_attention(Graph& graph);

PassDef fuse_attention_pass();

}  // namespace hone
