#pragma once

#include <memory>
#include <string>
#include <vector>

#include "hone/base/thread_pool.h"
#include "hone/ir/graph.h"
#include "hone/runtime/library.h"
#include "hone/runtime/operation_span.h"
#include "hone/tensor/parameter_store.h"

namespace hone {

struct PassWatch;
struct Session;

using NamedTensors = TensorMap;

/// A graph prepared for execution. The graph and everything the session refers to must outlive it, and the graph must
/// not change.
class Executable {
 public:
  virtual ~Executable() = default;

  /// Runs the graph on `inputs`, which it moves to the device as needed, and returns its outputs. They are on the
  /// device, and work on them may still be queued; downloading them waits for it.
  /// Operations with the trait `update` write into `parameters`, which stay on the device.
  /// Throws `UserError` for missing or misshapen inputs and parameters, and names the node.
  virtual NamedTensors run(const NamedTensors& inputs, ParameterStore& parameters) = 0;

  /// Appends every operation of later runs to `spans`, which must outlive those runs; null stops recording.
  virtual void record(std::vector<OperationSpan>* spans) = 0;
};

/// Prepares graphs for one execution mode.
using Executor = std::unique_ptr<Executable> (*)(const Graph& graph, const Session& session);

/// Prepares graphs that run operation by operation (see interpreter.h).
std::unique_ptr<Executable> interpreted(const Graph& graph, const Session& session);

/// Token counts are rounded up to multiples of these: of a whole batch without padding, and of each padded text. 1:
/// no rounding.
struct TokenSteps {
  std::int64_t batch = 1, text = 1;
};
inline std::int64_t whole_steps(std::int64_t tokens, std::int64_t step) {
  return (tokens + step - 1) / step * step;
}

/// The environment that graphs run in: the tables, the host's threads, and the device that holds parameters and values.
///
///     const Session session{library, pool};
///     const auto executable = session.executable(graph);
///     NamedTensors outputs = executable->run(inputs, parameters);
struct Session {
  const Library& library;
  ThreadPool& pool;
  Device& device = cpu();
  Executor executor = interpreted;
  /// Type of intermediate values: f32, or bf16 or f16 in mixed precision (passes/autocast.h).
  DType values = DType::f32;
  /// Token counts are rounded up to these where that changes no result, so that shapes recur and executors can reuse
  /// what they recorded for them (cuda/captured.h).
  TokenSteps token_steps = {};
  const PassWatch* watch = nullptr;  ///< observes passes (see run_passes.h); null: nothing does

  std::unique_ptr<Executable> executable(const Graph& graph) const {
    return executor(graph, *this);
  }
};

}  // namespace hone
