#pragma once

#include "hone/ir/graph.h"
#include "hone/runtime/library.h"
#include "hone/tensor/parameter_store.h"
#include "hone/text/batching.h"

namespace hone {

/// Observes what the quantizers of `graph` would read when nothing is quantized yet, on the first `batch_count`
/// batches of `data`, and stores the states their formats choose in `parameters`. Does nothing for formats without
/// state. `graph` is a quantized forward graph in training mode; dropout is off. Memory does not grow with the number
/// of batches.
void calibrate(const Graph& graph, ParameterStore& parameters, const EncodedSet& data,
               std::int32_t pad_id, std::int64_t batch_size, std::int64_t batch_count,
               const Library& library, ThreadPool& pool);

}  // namespace hone
