#pragma once

#include <memory>

#include "hone/tensor/tensor.h"

namespace hone {

/// A caching allocator for the memory of one device. A tensor returns its piece when its last view is destroyed, even
/// after the pool itself is gone. Not thread-safe.
///
/// A request takes the best-fitting free piece, among equal ones the newest, which is most likely still in the cache,
/// and splits off the rest. A piece of more than twice the size is kept whole as long as the pool may still grow: up
/// to slightly more than its tensors ever needed at once. So batches of all shapes share the memory of the largest.
/// Pieces cut from one prepared block fill it; pieces allocated one by one leave gaps when the next one is larger.
class BufferPool {
 public:
  explicit BufferPool(Device& device);

  Tensor allocate(DType dtype, Sizes sizes);
  /// Reserves a block of this size that tensors are cut from, each a multiple of `kGrainBytes`, unless a free piece
  /// of that size exists. First returns unused blocks to the device.
  void prepare(std::size_t size_bytes);

  static constexpr std::size_t kGrainBytes = 256;  ///< keeps vectors and cache lines whole
  /// Memory that tensors use now.
  std::size_t used_bytes() const;
  /// All memory allocated from the device, in use or free.
  std::size_t reserved_bytes() const;
  /// The maximum of `reserved_bytes` so far.
  std::size_t peak_reserved_bytes() const;

 private:
  struct State;
  struct Loan;
  std::shared_ptr<State> state_;
};

}  // namespace hone
