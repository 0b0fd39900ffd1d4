#pragma once

#include "hone/passes/pass.h"

namespace hone {

/// Takes slices before the operations whose results they cut, so that these compute no more than is read: of the last
/// layer of a classifier that pools the first token, one row of each text. Where all uses of a result are one and the same
/// slice, and its rows do not depend on each other along that axis, `slice(linear(x))` becomes `linear(slice(x))`, and so
/// on up the graph. No element that is left changes its bits. Requires a verified graph; `dropout`, which draws by place,
/// and formats whose rows share a scale stop a slice.
/// Returns whether the graph changed.
bool hoist_slices(Graph& graph);

/// Its record.
PassDef hoist_slices_pass();

}  // namespace hone
