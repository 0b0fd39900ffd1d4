#pragma once

#include "hone/passes/pass.h"

namespace hone {

/// Merges operations that compute the same from the same values (common subexpressions), such as the quantizers of
/// the input of query, key and value. Operations that write stay. Requires a verified graph. Outputs are
/// bit-identical. Returns whether the graph changed.
bool merge_equal(Graph& graph);

/// Does the same, and treats states of formats with equal bits as equal. This is valid as long as they do not change:
/// for calibrated formats.
bool merge_equal_states(Graph& graph, const ParameterStore& parameters);

PassDef merge_equal_pass();
PassDef merge_equal_states_pass();

}  // namespace hone
