#pragma once

#include "hone/runtime/session.h"

namespace hone::compiler {

/// Returns an executable that runs a graph on the CPU with fused element-wise operations (passes/fuse_elementwise.h)
/// and code generated for them, and everything else as `interpreted` does. The code is generated before the first
/// run, once for all lengths. If no code can be generated (`code_generation_missing`), returns `interpreted`.
std::unique_ptr<Executable> compiled(const Graph& graph, const Session& session);

/// Returns the graph that it runs in place of the given one.
Graph compiled_graph(Graph graph, const Session& session);

}  // namespace hone::compiler
