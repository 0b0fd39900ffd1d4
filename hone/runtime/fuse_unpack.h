#pragma once

#include "hone/ir/graph.h"
#include "hone/runtime/session.h"

namespace hone {

/// Lets products, embeddings and slices of rows read packed weights themselves, which they alone read, wherever the
/// session's table of kernels has a fast one that does: a linear becomes a `packed_linear`, or, where kernels multiply
/// codes of its input, too, a `native_linear` behind an `encode_rows` in place of the input's quantizer; an embedding becomes a `packed_embedding`, a slice a `packed_rows`.
/// What no kernel takes stays: a weight is unpacked as a whole then, an input
/// rounded once for all who read it.
/// For inference. Returns whether the graph changed.
bool fuse_unpack(Graph& graph, const Session& session);

/// Its record.
PassDef fuse_unpack_pass();

}  // namespace hone
