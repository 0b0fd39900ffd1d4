#pragma once

#include <span>

#include "hone/base/thread_pool.h"
#include "hone/ir/op.h"

namespace hone {

/// One execution of one operation: what a kernel is given. Inputs may be strided views.
///
/// A kernel asks for an output by `output(i)` (fresh contiguous memory), by `output_over(i, j)`
/// (the memory of a dying input where possible), or sets a view by `set_output`.
class Call {
 public:
  const OpDef& op;
  const Attributes& attributes;
  std::span<const Tensor* const> inputs;
  std::span<const char> input_dies;  ///< nobody reads that input after this call
  std::span<const Type> types;       ///< of the outputs
  std::span<Tensor> outputs;
  const Bindings& bindings;
  ThreadPool& pool;
  FunctionRef<Tensor(DType, Sizes)> allocate;

  const Tensor& input(std::size_t index) const { return *inputs[index]; }
  bool has_input(std::size_t index) const { return index < inputs.size(); }

  /// The concrete extents of an output.
  Sizes output_sizes(std::size_t index = 0) const { return resolve(types[index].shape, bindings); }

  /// Memory for an output, contents undefined, contiguous.
  Tensor& output(std::size_t index = 0) {
    if (!outputs[index].defined())
      outputs[index] = allocate(types[index].dtype, output_sizes(index));
    return outputs[index];
  }
  /// The same, in the memory of input `over` when that input dies here, has no other view and the
  /// same layout. The kernel must read every element before it writes it.
  Tensor& output_over(std::size_t index, std::size_t over) {
    const Tensor& candidate = input(over);
    if (input_dies[over] != 0 && candidate.storage().use_count() == 1 && candidate.contiguous() &&
        candidate.dtype() == types[index].dtype && candidate.sizes() == output_sizes(index)) {
      outputs[index] = candidate;
    }
    return output(index);
  }
  /// Makes an output a view of other memory: of an input, for views and updates.
  void set_output(std::size_t index, Tensor tensor) { outputs[index] = std::move(tensor); }
};

}  // namespace hone
