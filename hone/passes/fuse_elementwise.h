#pragma once

#include <string>
#include <vector>

#include "hone/passes/pass.h"

namespace hone {

/// What became one operation.
struct FusedElementwise {
  std::string node;                     ///< its name
  std::vector<std::string> operations;  ///< names of the nodes that it stands for, in their order
};

/// Computes element-wise operations that follow each other together, as one `elementwise` each: all that have a formula
/// (`OpDef::formula`) of f32 values, results of one shape, and a place in the graph between what they read and what reads
/// them. Operands may be stretched to that shape. What else is read of them stays a result. Nothing is computed twice.
/// Worth it where code is generated (compiler/compiled.h): the values between them are never in memory.
/// Returns whether the graph changed; `fused` is told of each.
bool fuse_elementwise(Graph& graph, std::vector<FusedElementwise>* fused = nullptr);

/// Its record.
PassDef fuse_elementwise_pass();

}  // namespace hone
