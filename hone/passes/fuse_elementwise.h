#pragma once

#include <string>
#include <vector>

#include "hone/passes/pass.h"

namespace hone {

/// Nodes that were fused into one operation.
struct FusedElementwise {
  std::string node;                     ///< its name
  std::vector<std::string> operations;  ///< names of the fused nodes, in order
};

/// Fuses neighbouring element-wise operations into one `elementwise` each: those that have a formula
/// (`OpDef::formula`) of f32 values, results of one shape, and a place in the graph between their operands and their
/// readers. Operands may be broadcast to that shape. Values with other readers stay results. Nothing is computed
/// twice. Useful with code generation (compiler/compiled.h), which never stores the values in between. Returns
/// whether the graph changed; records each fusion in `fused`.
bool fuse_elementwise(Graph& graph, std::vector<FusedElementwise>* fused = nullptr);

PassDef fuse_elementwise_pass();

}  // namespace hone
