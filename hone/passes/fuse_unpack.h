#pragma once

#include "hone/passes/pass.h"

namespace hone {

/// Lets linears and embeddings read packed weights themselves. An `embedding` of an `unpack` in rows becomes a
/// `packed_embedding`; a `linear` or `fused_linear` of an `unpack` in panels that it alone reads, of values that are products of codes and scales, with a
/// bias, becomes a `packed_linear`, or, where its input is rounded to a format by a quantizer of its own kind, a `native_linear`
/// that takes that on. What a `fused_linear` adds behind its activation is added by an operation of its own. For inference
/// graphs. Values are the same, sums may be taken in another order. Requires a verified graph. Returns whether the graph
/// changed.
bool fuse_unpack(Graph& graph);

/// Its record.
PassDef fuse_unpack_pass();

}  // namespace hone
