#pragma once

#include <memory>

#include "hone/tensor/tensor.h"

namespace hone {

/// Memory of one device that is allocated once and handed out again and again. A tensor returns its piece when its last
/// view goes, even after the pool itself is gone. For one thread.
///
/// A request gets the free piece that fits best, of equal ones the newest, which is the likeliest to be cached still, and
/// leaves what is too much of it to others. A piece of more than twice the size is kept whole for what needs it as long
/// as there is room; there is none where the pool would hold much more than its tensors ever needed at once. So batches
/// of all shapes share the memory of the largest. Pieces of one block that was prepared for them fill it; those that were
/// taken one by one leave gaps where the next is larger.
class BufferPool {
 public:
  explicit BufferPool(Device& device);

  Tensor allocate(DType dtype, Sizes sizes);
  /// Makes a block of so many bytes ready that tensors are cut from, each a multiple of `kGrainBytes`, and gives blocks that
  /// wait back for it, unless there is one of that size.
  void prepare(std::size_t size_bytes);

  static constexpr std::size_t kGrainBytes = 256;  ///< keeps vectors and cache lines whole
  /// What tensors have of it now.
  std::size_t used_bytes() const;
  /// All memory held from the device, in use or waiting.
  std::size_t reserved_bytes() const;
  /// The most that `reserved_bytes` has been.
  std::size_t peak_reserved_bytes() const;

 private:
  struct State;
  struct Loan;
  std::shared_ptr<State> state_;
};

}  // namespace hone
