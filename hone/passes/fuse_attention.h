#pragma once

#include "hone/passes/pass.h"

namespace hone {

/// Replaces the steps of an attention, `matmul(dropout(softmax(matmul(query, key) scaled + mask)), value)` over
/// (B, N, tokens, size), by one `attention`, which never holds scores of all tokens by all tokens, and reads heads where they
/// stood before they were transposed. Scaled is the product, the query, the key or several of them; dropout and mask may be
/// absent. Weights are dropped as before, and the gradient of `attention` computes them again instead of keeping them. Left as
/// they are: steps that something stands between (a quantizer), whose results something else reads or that are kept as
/// outputs, and masks that differ from query to query. Logits change in their last bits. Requires a verified graph.
/// Returns whether the graph changed.
bool fuse_attention(Graph& graph);

/// Its record.
PassDef fuse_attention_pass();

}  // namespace hone
