#pragma once

#include <span>

#include "hone/base/error.h"
#include "hone/base/thread_pool.h"
#include "hone/ir/op.h"

namespace hone {

/// One execution of one operation: the arguments of a kernel. Inputs may be strided views.
///
/// A kernel gets the memory of an output from `output(i)`, or makes the output a view with `set_output`. It reads the
/// pointers of its inputs first, because an output may reuse the memory of an input. A CPU kernel is done when it
/// returns; a kernel of another device has then enqueued its work on the queue of `device`.
class Call {
 public:
  const OpDef& op;
  const Attributes& attributes;
  std::span<const Tensor* const> inputs;
  std::span<const char> input_dies;  ///< this call is the last reader of the input
  std::span<const Type> types;       ///< of the outputs
  std::span<Tensor> outputs;
  const Bindings& bindings;
  Device& device;            ///< holds inputs and outputs
  ThreadPool* host_threads;  ///< null on devices other than the CPU
  FunctionRef<Tensor(DType, Sizes)> allocate;
  /// State that the kernel prepared from weights and format states (see `Kernel::prepare`).
  const void* prepared = nullptr;
  /// Scratch memory on the device, of `Kernel::workspace_bytes` bytes, uninitialized, aligned to a cache line.
  void* workspace = nullptr;

  const Tensor& input(std::size_t index) const { return *inputs[index]; }
  bool has_input(std::size_t index) const { return index < inputs.size(); }

  /// The CPU threads, for CPU kernels.
  ThreadPool& pool() const {
    HONE_ASSERT(host_threads != nullptr, "a kernel on {} requested host threads",
                to_string(device));
    return *host_threads;
  }

  /// The concrete extents of an output.
  Sizes output_sizes(std::size_t index = 0) const { return resolve(types[index].shape, bindings); }

  /// Returns contiguous, uninitialized memory for an output. It reuses the memory of the `OpDef::in_place` input if
  /// this call is the last reader and no other view exists; otherwise it allocates.
  Tensor& output(std::size_t index = 0) {
    if (!outputs[index].defined())
      outputs[index] = index == 0 && works_in_place()
                           ? input(*op.in_place)
                           : allocate(types[index].dtype, output_sizes(index));
    return outputs[index];
  }
  /// Makes an output a view of other memory, such as an input: for views and updates.
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
