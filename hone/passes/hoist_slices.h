#pragma once

#include "hone/passes/pass.h"

namespace hone {

/// Takes slices before the operations whose results they cut, so that these compute no more than is read: of the last
/// layer of a classifier that pools the first token, one row of each text. Where all uses of a result are one and the same
/// slice, and its rows do not depend on each other along that axis, `slice(linear(x))` becomes `linear(slice(x))`, and so
/// on up the graph. No element that is left changes its bits. Requires a verified graph; formats whose rows share a scale
/// stop a slice, and so does `dropout`, which draws by place, but where the slice takes the first places of one with limits:
/// these draw what they drew.
/// Returns whether the graph changed.
bool hoist_slices(Graph& graph);

/// The same for graphs whose gradients are to be taken: quantizers that learn stop a slice, too, as the pace of what they
/// learn counts elements. The gradients are the same sums, less terms that are 0.
bool hoist_slices_before_gradients(Graph& graph);

/// Its record.
PassDef hoist_slices_pass();

}  // namespace hone
