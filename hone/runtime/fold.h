#pragma once

#include "hone/ir/graph.h"
#include "hone/runtime/session.h"

namespace hone {

/// Returns whether the sizes of all results of a node are known before a run.
bool has_fixed_size(const Node& node);

/// Precomputes values that depend on parameters alone and replaces them by frozen parameters of `graph` and tensors
/// of `parameters` called "<node>.folded". So an evaluation quantizes every weight once, not once per batch. A result
/// with the bits of a parameter that it was computed from, as of a mask over zeros, becomes that parameter. On a device
/// with its own memory, parameters that nothing reads any more are removed from `parameters`, and the host computes what
/// the device has no kernel for, such as weights from codes that no GPU kernel decodes. For inference graphs; values
/// whose size a run decides stay as they are. Returns whether the graph changed.
bool fold_parameters(Graph& graph, ParameterStore& parameters, const Session& session);

PassDef fold_parameters_pass();

}  // namespace hone
