#pragma once

#include "hone/passes/pass.h"

namespace hone {

/// Lets the first of all operations that compute the same of the same values (common subexpressions) stand for them: the
/// roundings of what query, key and value read. Those that write stay.
/// Requires a verified graph. Ensures that outputs keep their bits. Returns whether the graph changed.
bool merge_equal(Graph& graph);

/// The same where states of formats that have the same bits count as one, which holds for as long as they do: of calibrated
/// formats.
bool merge_equal_states(Graph& graph, const ParameterStore& parameters);

/// Their records.
PassDef merge_equal_pass();
PassDef merge_equal_states_pass();

}  // namespace hone
