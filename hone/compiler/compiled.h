#pragma once

#include "hone/runtime/session.h"

namespace hone::compiler {

/// Runs graphs on the processor with element-wise operations fused (passes/fuse_elementwise.h) and code generated for them, all
/// else as `interpreted` does. Code is made before the first run, for all lengths at once. Where none can be generated
/// (`code_generation_missing`), it is `interpreted`.
std::unique_ptr<Executable> compiled(const Graph& graph, const Session& session);

/// What it runs in place of a graph.
Graph compiled_graph(Graph graph, const Session& session);

}  // namespace hone::compiler
