#pragma once

#include <map>
#include <memory>
#include <memory_resource>
#include <string>
#include <vector>

#include "hone/runtime/buffer_pool.h"
#include "hone/runtime/session.h"

namespace hone {

/// Runs a graph operation by operation. Slow to start nothing, simple to trust: the truth the compiler is held against.
///
/// The graph and the library must outlive it and not change. Memory for intermediate values is taken from the device
/// once and reused by every later run; values are released after their last use. A run like one before it asks the heap for
/// nothing but the map of outputs that it returns.
class Interpreter final : public Executable {
 public:
  Interpreter(const Graph& graph, const Library& library, ThreadPool& pool, Device& device = cpu());
  ~Interpreter() override;
  Interpreter(const Interpreter&) = delete;
  Interpreter& operator=(const Interpreter&) = delete;

  NamedTensors run(const NamedTensors& inputs, ParameterStore& parameters) override;
  void record(std::vector<OperationSpan>* spans) override { spans_ = spans; }

  /// Gives what is held between runs back to the device; the next run takes it anew.
  void release_memory();

  /// Memory held for intermediate values and for what kernels work in, and the most that it has been.
  std::size_t reserved_bytes() const { return buffers_.reserved_bytes() + workspace_size_bytes(); }
  std::size_t peak_reserved_bytes() const {
    return buffers_.peak_reserved_bytes() + workspace_size_bytes();
  }

 private:
  // It never shrinks.
  std::size_t workspace_size_bytes() const { return workspace_ ? workspace_->size_bytes : 0; }

  /// What a kernel made of the constant weights of a node, and of which versions of them.
  struct Preparation {
    std::vector<std::size_t> slots;  // of those weights
    std::vector<std::uint64_t> versions;
    bool asked = false;
    std::shared_ptr<const void> prepared;
  };
  struct Step {
    const Node* node;
    const Kernel* kernel;  // null: the reference
    bool is_widened;       // takes f32 alone and is given halves
    std::vector<std::size_t> input_slots;
    std::vector<char> input_dies;
    std::size_t first_output_slot;
    Preparation preparation;
  };
  /// A value that a run is given.
  struct Given {
    const Node* node;
    std::size_t slot;
    std::string what;  // in errors
  };
  void load_inputs(const NamedTensors& inputs, Bindings& bindings);
  void load_parameters(ParameterStore& parameters, Bindings& bindings);
  void prepare_buffers(const Bindings& bindings);
  void execute(Step& step, const Bindings& bindings);
  const void* prepared_for(Step& step, const Call& call) const;

  const Graph& graph_;
  ThreadPool& pool_;
  Device& device_;
  BufferPool buffers_;
  StoragePointer workspace_;         // of kernels, one after the other; null: none asked
  std::vector<Bindings> ready_for_;  // extents that memory was made ready for
  std::vector<Given> inputs_, parameters_;
  std::vector<Step> steps_;
  std::map<const Node*, std::size_t> slot_of_;  // first slot of a node's results
  std::vector<Tensor> slots_;
  std::vector<const Node*> updated_parameters_;
  std::vector<OperationSpan>* spans_ = nullptr;

  // What a run works in and leaves empty, kept so that the next one need not ask for it.
  std::pmr::unsynchronized_pool_resource records_;  // of bindings
  std::vector<const Tensor*> operands_;
  std::vector<Tensor> dense_operands_;
  std::vector<char> none_dies_;
};

/// What a kernel keeps of the constant weights of one node.
struct PreparedCopy {
  const Node* node = nullptr;
  std::int64_t bytes = 0;
  std::vector<Tensor> released = {};  ///< weights in files whose pages go then (`release_pages`)
  std::optional<WeightZeros> zeros = {};  ///< see `PreparedMemory`
};

/// Those that kernels make when a graph is run for the second time, by `Kernel::prepared_memory`, of weights among `parameters` that
/// lie on the session's device. Reads these weights, to count their zeros.
std::vector<PreparedCopy> prepared_copies(const Graph& graph, const ParameterStore& parameters,
                                          const Session& session);

}  // namespace hone
