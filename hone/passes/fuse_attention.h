#pragma once

#include "hone/passes/pass.h"

namespace hone {

/// Replaces the steps of an attention, `matmul(softmax(matmul(query, key) scaled + mask), value)` over (B, N, tokens, size),
/// by one `attention`, which never holds scores of all tokens by all tokens, and reads heads where they stood before they
/// were transposed. For inference graphs: `attention` has no gradient. Left as they are: steps that something stands
/// between (a quantizer, a dropout), whose results something else reads or that are kept as outputs, and masks that differ
/// from query to query. Logits change in their last bits. Requires a verified graph.
/// Returns whether the graph changed.
bool fuse_attention(Graph& graph);

/// Its record.
PassDef fuse_attention_pass();

}  // namespace hone
