#pragma once

#include <map>
#include <string>
#include <vector>

#include "hone/base/thread_pool.h"
#include "hone/ir/graph.h"
#include "hone/runtime/buffer_pool.h"
#include "hone/runtime/library.h"
#include "hone/tensor/parameter_store.h"

namespace hone {

using NamedTensors = std::map<std::string, Tensor>;

/// Time spent in one kernel over all runs since profiling was switched on.
struct KernelTime {
  std::int64_t calls = 0;
  double seconds = 0;
};

/// Runs a graph operation by operation. Slow to start nothing, simple to trust: the truth the compiler is held against.
///
/// The graph and the library must outlive it and not change. Memory for intermediate values is taken from the device
/// once and reused by every later run; values are released after their last use.
class Interpreter {
 public:
  Interpreter(const Graph& graph, const Library& library, ThreadPool& pool, Device& device = cpu());

  /// Runs the graph on `inputs` (moved to the device as needed) and returns its outputs, on the device.
  /// Operations with the trait `update` write into `parameters`, which stay on the device.
  /// Throws `UserError` for missing or misshapen inputs and parameters, with the node where it happened.
  NamedTensors run(const NamedTensors& inputs, ParameterStore& parameters);

  /// Counts the time of every kernel from now on, by "operation / kernel".
  void start_profile() { profiling_ = true; }
  const std::map<std::string, KernelTime>& profile() const { return profile_; }

  /// Memory held for intermediate values, and the most that it has been.
  std::size_t reserved_bytes() const { return buffers_.reserved_bytes(); }
  std::size_t peak_reserved_bytes() const { return buffers_.peak_reserved_bytes(); }

 private:
  struct Step {
    const Node* node;
    std::vector<const Kernel*> kernels;
    std::vector<std::size_t> input_slots;
    std::vector<char> input_dies;
    std::size_t first_output_slot;
  };
  void load_inputs(const NamedTensors& inputs, Bindings& bindings);
  void load_parameters(ParameterStore& parameters, Bindings& bindings);
  void execute(const Step& step, const Bindings& bindings);
  const Kernel* choose(const Step& step, const Call& call) const;

  const Graph& graph_;
  ThreadPool& pool_;
  Device& device_;
  BufferPool buffers_;
  std::vector<Step> steps_;
  std::map<const Node*, std::size_t> slot_of_;  // first slot of a node's results
  std::vector<Tensor> slots_;
  std::vector<const Node*> updated_parameters_;
  bool profiling_ = false;
  std::map<std::string, KernelTime> profile_;
};

}  // namespace hone
