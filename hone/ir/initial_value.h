#pragma once

#include <cstdint>

#include "hone/base/thread_pool.h"
#include "hone/ir/graph.h"
#include "hone/tensor/parameter_store.h"

/// Parameter values at the start of training.
///
///     ParameterStore parameters = initial_parameters(graph, /*seed=*/42);
namespace hone {

/// Returns a parameter's initial value by its role: 1 for gains and masks, 0 for biases, else samples from
/// N(0, deviation²) that depend only on `seed` and the parameter's name, not on the number of threads. Its shape must
/// have no symbols.
Tensor initial_value(const Node& parameter, double deviation, std::uint64_t seed, ThreadPool& pool);

/// Initializes the weights, gains, biases and masks of a graph. The deviation of a weight is sqrt(2 / columns), which
/// preserves the magnitude of values through layers with relu (He, Zhang, Ren and Sun, "Delving Deep into Rectifiers",
/// 2015, equation 10). The other roles are initialized elsewhere: format states by calibration, moments by the trainer,
/// buffers and adapters by their creators.
ParameterStore initial_parameters(const Graph& graph, std::uint64_t seed);

}  // namespace hone
