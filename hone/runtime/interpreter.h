#pragma once

#include <map>
#include <memory>
#include <memory_resource>
#include <string>
#include <vector>

#include "hone/runtime/buffer_pool.h"
#include "hone/runtime/session.h"

namespace hone {

/// Runs a graph operation by operation. It starts at once and is simple to trust: the compiler is tested against it.
///
/// The graph and the library must outlive it and not change. Memory for intermediate values is allocated once and
/// reused by later runs; values are released after their last use. Repeated runs of the same shapes allocate nothing
/// on the heap except the returned map of outputs.
class Interpreter final : public Executable {
 public:
  Interpreter(const Graph& graph, const Library& library, ThreadPool& pool, Device& device = cpu());
  ~Interpreter() override;
  Interpreter(const Interpreter&) = delete;
  Interpreter& operator=(const Interpreter&) = delete;

  NamedTensors run(const NamedTensors& inputs, ParameterStore& parameters) override;
  void record(std::vector<OperationSpan>* spans) override { spans_ = spans; }

  /// Frees memory held between runs; the next run allocates it again.
  void release_memory();

  /// Memory held for intermediate values and for the workspace of kernels, and its maximum so far.
  std::size_t reserved_bytes() const { return buffers_.reserved_bytes() + workspace_size_bytes(); }
  std::size_t peak_reserved_bytes() const {
    return buffers_.peak_reserved_bytes() + workspace_size_bytes();
  }

 private:
  // It never shrinks.
  std::size_t workspace_size_bytes() const { return workspace_ ? workspace_->size_bytes : 0; }

  /// Data that a kernel prepared from the constant weights of a node, and the versions of these weights.
  struct Preparation {
    std::vector<std::size_t> slots;  // of those weights
    std::vector<std::uint64_t> versions;
    bool asked = false;
    std::shared_ptr<const void> prepared;
  };
  struct Step {
    const Node* node;
    const Kernel* kernel;  // null: the reference
    bool is_widened;       // the kernel supports only f32 and receives halves
    std::vector<std::size_t> input_slots;
    std::vector<char> input_dies;
    std::size_t first_output_slot;
    Preparation preparation;
  };
  /// An input or a parameter of a run.
  struct RunInput {
    const Node* node;
    std::size_t slot;
    std::string what;  // for errors
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
  StoragePointer workspace_;         // shared by kernels; null: none needed
  std::vector<Bindings> ready_for_;  // extents that memory was reserved for
  std::vector<RunInput> inputs_, parameters_;
  std::vector<Step> steps_;
  std::map<const Node*, std::size_t> slot_of_;  // first slot of a node's results
  std::vector<Tensor> slots_;
  std::vector<const Node*> updated_parameters_;
  std::vector<OperationSpan>* spans_ = nullptr;

  // Scratch containers that are empty between runs, kept to avoid allocations.
  std::pmr::unsynchronized_pool_resource records_;  // of bindings
  std::vector<const Tensor*> operands_;
  std::vector<Tensor> dense_operands_;
  std::vector<char> no_input_dies_;
};

/// Memory that a kernel keeps for the constant weights of one node.
struct PreparedCopy {
  const Node* node = nullptr;
  std::int64_t bytes = 0;
  std::vector<Tensor> released = {};      ///< file-backed, see `release_pages`
  std::optional<WeightZeros> zeros = {};  ///< see `PreparedMemory`
};

/// Returns the copies that kernels make when a graph runs for the second time, by `Kernel::prepared_memory`, of
/// weights among `parameters` that are on the session's device. Reads these weights to count their zeros.
std::vector<PreparedCopy> prepared_copies(const Graph& graph, const ParameterStore& parameters,
                                          const Session& session);

}  // namespace hone
