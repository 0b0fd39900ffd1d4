#pragma once

#include "hone/passes/pass.h"

namespace hone {

/// Moves slices before the operations whose results they slice, so that only elements that are read are computed: in
/// the last layer of a classifier that pools the first token, one row per text. If all uses of a result are the same
/// slice, and its rows are independent along that axis, `slice(linear(x))` becomes `linear(slice(x))`, and so on up
/// the graph. The remaining elements are bit-identical. Requires a verified graph. Slices do not move over formats
/// whose rows share a scale, nor over `dropout`, which draws by position, except for slices of the first positions of
/// a dropout with limits: these draw the same numbers. Returns whether the graph changed.
bool hoist_slices(Graph& graph);

/// Does the same for graphs that will get gradients. Slices do not move over quantizers with trainable states,
/// because the scale of their gradients depends on the number of elements. The gradients are the same sums, except
/// for terms that are 0.
bool hoist_slices_before_gradients(Graph& graph);

PassDef hoist_slices_pass();

}  // namespace hone
