#pragma once

#include "hone/passes/pass.h"

namespace hone {

/// Lets every `native_linear` whose results an `encode_rows` alone reads give the codes itself, as `native_linear_codes`, wherever the
/// table of kernels has a fast one that does; the floats in between then stand nowhere. Behind `fuse_unpack`, which makes both, and
/// `merge_equal`, which makes one of what several products read. A `layer_norm` becomes `layer_norm_codes` in the same way, and still
/// gives its values. Returns whether anything changed.
bool fuse_codes(Graph& graph, const Session& session);

PassDef fuse_codes_pass();

}  // namespace hone
