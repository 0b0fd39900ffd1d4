#pragma once

#include "hone/ir/graph.h"
#include "hone/runtime/session.h"

namespace hone {

/// Whether the sizes of all that a node gives are known before a run.
bool has_fixed_size(const Node& node);

/// Computes once what depends on parameters alone and puts the results in their place, as frozen parameters of `graph`
/// and tensors of `parameters` called "<node>.folded". So an evaluation quantizes every weight once,
/// not once per batch. A result with the bits of a parameter that it was made of, as of a mask over
/// zeros, is that parameter. Parameters that nothing reads any more are removed from `parameters` on a device with its own memory.
/// For inference graphs; values whose size a run decides stay as they are.
/// Returns whether the graph changed.
bool fold_parameters(Graph& graph, ParameterStore& parameters, const Session& session);

/// Its record.
PassDef fold_parameters_pass();

}  // namespace hone
