#pragma once

#include <cstdint>

#include "hone/base/thread_pool.h"
#include "hone/ir/graph.h"
#include "hone/tensor/parameter_store.h"

/// What training begins with.
///
///     ParameterStore parameters = initial_parameters(graph, /*seed=*/42);
namespace hone {

/// A parameter before any training, by its role: gains and masks are 1, biases 0, and all else is drawn from N(0, deviation²) by
/// `seed` and its name, the same by any number of threads. Its shape has no symbols.
Tensor initial_value(const Node& parameter, double deviation, std::uint64_t seed, ThreadPool& pool);

/// Those of a graph's parameters that begin without anything known of them: weights, gains, biases and masks. A weight's
/// deviation is sqrt(2 / columns), by which values keep their size through layers with relu (He, Zhang, Ren and Sun, "Delving
/// Deep into Rectifiers", 2015, equation 10). States of formats come from calibration, moments from the trainer, buffers and
/// adapters from who made them.
ParameterStore initial_parameters(const Graph& graph, std::uint64_t seed);

}  // namespace hone
