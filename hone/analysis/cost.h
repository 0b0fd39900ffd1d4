#pragma once

#include <map>
#include <string>

#include "hone/ir/graph.h"

namespace hone {

/// Returns the FLOPs of a model as usually quoted: those of linears, convolutions and the two products of attention,
/// with a multiply-add counted as two. Biases, norms, softmax and activations do not count, as in PyTorch's
/// FlopCounterMode. `graph` must be the original one: passes that prepare a run remove products or fuse them with
/// operations that do not count.
double product_flops(const Graph& graph, const Bindings& bindings);

/// The cost of one run of a graph with its symbols bound.
struct Cost {
  double flops = 0;  ///< of all operations of this graph; a multiply-add counts as two
  std::map<std::string, double> flops_by_op;
  std::int64_t parameter_bytes = 0;
  /// The peak memory of live intermediate values. Views, updates and in-place operations take none, but the copy made
  /// to reshape a transposed view does.
  std::int64_t peak_value_bytes = 0;
  /// The memory of gradients at that moment, which are the values that parameter updates read.
  std::int64_t peak_gradient_bytes = 0;
  std::int64_t moment_bytes = 0;  ///< parameters that are optimizer state
};

Cost cost(const Graph& graph, const Bindings& bindings);

/// Returns only `Cost::peak_value_bytes`, with the size of every value rounded up to a multiple of `grain_bytes`.
std::int64_t peak_value_bytes(const Graph& graph, const Bindings& bindings,
                              std::int64_t grain_bytes = 1);

}  // namespace hone
