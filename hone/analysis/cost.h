#pragma once

#include <map>
#include <string>

#include "hone/ir/graph.h"

namespace hone {

/// The FLOPs of a model as people quote them: those of its products, which are linears, convolutions and the two products of
/// attention, with two for a multiply-add. Biases, norms, softmax and activations do not count, as in PyTorch's
/// FlopCounterMode. `graph` is the model's own: passes that prepare it for a run leave products out, or fuse them with
/// what does not count.
double product_flops(const Graph& graph, const Bindings& bindings);

/// What one run of a graph costs, with its symbols bound.
struct Cost {
  double flops = 0;  ///< of all operations of this graph, as it is; a multiply-add counts two
  std::map<std::string, double> flops_by_op;
  std::int64_t parameter_bytes = 0;
  /// The most memory that live intermediate values take at any moment: views, updates and operations that work in place
  /// take none, but the copies that reshaping a transposed view makes do.
  std::int64_t peak_value_bytes = 0;
  /// What of these are gradients, at the moment at which they take most: what updates of parameters read.
  std::int64_t peak_gradient_bytes = 0;
  std::int64_t moment_bytes = 0;  ///< what of the parameters an optimizer keeps
};

Cost cost(const Graph& graph, const Bindings& bindings);

/// `Cost::peak_value_bytes` alone, where every value takes a multiple of `grain_bytes`.
std::int64_t peak_value_bytes(const Graph& graph, const Bindings& bindings,
                              std::int64_t grain_bytes = 1);

}  // namespace hone
