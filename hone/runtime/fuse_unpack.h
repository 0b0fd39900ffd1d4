#pragma once

#include "hone/ir/graph.h"
#include "hone/runtime/session.h"

namespace hone {

/// Lets products, embeddings and slices of rows read packed weights directly, if they are their only reader and the
/// session's table of kernels has a fast kernel for it. A linear becomes a `packed_linear`, or, if kernels multiply
/// codes of its input, too, a `native_linear` after an `encode_rows` that replaces the input's quantizer. An
/// embedding becomes a `packed_embedding`, a slice a `packed_rows`. Without such a kernel, a weight is unpacked as a
/// whole, and an input rounded once for all its readers. For inference. Returns whether the graph changed.
bool fuse_unpack(Graph& graph, const Session& session);

PassDef fuse_unpack_pass();

}  // namespace hone
