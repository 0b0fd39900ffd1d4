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

/// A graph made ready to run. The graph and what the session refers to must outlive it, and the graph must not change.
class Executable {
 public:
  virtual ~Executable() = default;

  /// Runs the graph on `inputs` (moved to the device as needed) and returns its outputs, on the device, where work on them
  /// may still be on the queue: what downloads them waits for it.
  /// Operations with the trait `update` write into `parameters`, which stay on the device.
  /// Throws `UserError` for missing or misshapen inputs and parameters, with the node where it happened.
  virtual NamedTensors run(const NamedTensors& inputs, ParameterStore& parameters) = 0;

  /// Adds every operation of the runs from now on to `spans`, which must outlive that; null: none any more.
  virtual void record(std::vector<OperationSpan>* spans) = 0;
};

/// Makes graphs ready to run, one way or another.
using Executor = std::unique_ptr<Executable> (*)(const Graph& graph, const Session& session);

/// Runs them operation by operation (see interpreter.h).
std::unique_ptr<Executable> interpreted(const Graph& graph, const Session& session);

/// Of how many tokens there are: of a batch without padding, and of a padded text. 1: of any number.
struct TokenSteps {
  std::int64_t batch = 1, text = 1;
};
inline std::int64_t whole_steps(std::int64_t tokens, std::int64_t step) {
  return (tokens + step - 1) / step * step;
}

/// What graphs are run with: the tables, the host's threads, and the device where parameters and values lie.
///
///     const Session session{library, pool};
///     const auto executable = session.executable(graph);
///     NamedTensors outputs = executable->run(inputs, parameters);
struct Session {
  const Library& library;
  ThreadPool& pool;
  Device& device = cpu();
  Executor executor = interpreted;
  /// Of what graphs read and give in the middle: f32, or bf16 or f16 in mixed precision (passes/autocast.h).
  DType values = DType::f32;
  /// Numbers of tokens are rounded up to these, where that changes no result: executors may have runs of shapes that come again
  /// ready (cuda/captured.h).
  TokenSteps token_steps = {};
  const PassWatch* watch = nullptr;  ///< who looks at passes (see run_passes.h); null: nobody

  std::unique_ptr<Executable> executable(const Graph& graph) const {
    return executor(graph, *this);
  }
};

}  // namespace hone
