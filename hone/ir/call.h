#pragma once

#include <span>

#include "hone/base/error.h"
#include "hone/base/thread_pool.h"
#include "hone/ir/op.h"

namespace hone {

/// One execution of one operation: what a kernel is given. Inputs may be strided views.
///
/// A kernel asks for an output by `output(i)`, or sets a view by `set_output`. It takes the pointers of its inputs first,
/// for an output may lie in the memory of one. A kernel of the host is done when it returns; one of another device has put
/// its work on the queue of `device` by then.
class Call {
 public:
  const OpDef& op;
  const Attributes& attributes;
  std::span<const Tensor* const> inputs;
  std::span<const char> input_dies;  ///< nobody reads that input after this call
  std::span<const Type> types;       ///< of the outputs
  std::span<Tensor> outputs;
  const Bindings& bindings;
  Device& device;            ///< where inputs and outputs lie
  ThreadPool* host_threads;  ///< null on other devices than the host
  FunctionRef<Tensor(DType, Sizes)> allocate;
  /// What the kernel made of weights and states (see `Kernel::prepare`).
  const void* prepared = nullptr;
  /// Memory of the device that the kernel asked for (see `Kernel::workspace_bytes`), contents undefined, aligned to a line of
  /// the cache.
  void* workspace = nullptr;

  const Tensor& input(std::size_t index) const { return *inputs[index]; }
  bool has_input(std::size_t index) const { return index < inputs.size(); }

  /// The host's threads, for its kernels.
  ThreadPool& pool() const {
    HONE_ASSERT(host_threads != nullptr, "a kernel on {} asks for threads of the host",
                to_string(device));
    return *host_threads;
  }

  /// The concrete extents of an output.
  Sizes output_sizes(std::size_t index = 0) const { return resolve(types[index].shape, bindings); }

  /// Memory for an output, contents undefined, contiguous: of the input that the operation may work in (see
  /// `OpDef::in_place`) where that dies here and has no other view, else fresh.
  Tensor& output(std::size_t index = 0) {
    if (!outputs[index].defined())
      outputs[index] = index == 0 && works_in_place()
                           ? input(*op.in_place)
                           : allocate(types[index].dtype, output_sizes(index));
    return outputs[index];
  }
  /// Makes an output a view of other memory: of an input, for views and updates.
  void set_output(std::size_t index, Tensor tensor) { outputs[index] = std::move(tensor); }

 private:
  bool works_in_place() const {
    if (!op.in_place || input_dies[*op.in_place] == 0) return false;
    const Tensor& candidate = input(*op.in_place);
    return candidate.storage().use_count() == 1 && candidate.contiguous() &&
           candidate.dtype() == types[0].dtype && candidate.sizes() == output_sizes(0);
  }
};

}  // namespace hone
