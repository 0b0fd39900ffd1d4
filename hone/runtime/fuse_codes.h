#pragma once

#include "hone/passes/pass.h"

namespace hone {

/// Turns every `native_linear` whose results only an `encode_rows` reads into a `native_linear_codes` that returns
/// the codes itself, if the table of kernels has a fast one; the floats in between are never stored. Runs after
/// `fuse_unpack`, which creates both, and `merge_equal`, which merges the encoders of several products. A
/// `layer_norm` likewise becomes `layer_norm_codes`, and still returns its values. Returns whether anything changed.
bool fuse_codes(Graph& graph, const Session& session);

PassDef fuse_codes_pass();

}  // namespace hone
