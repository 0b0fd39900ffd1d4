#include "hone/runtime/buffer_pool.h"

#include <bit>

namespace hone {
namespace {

// Rounds up to one of four steps per power of two, so that batches of almost the same size share blocks.
std::size_t capacity_for(std::size_t size_bytes) {
  constexpr std::size_t kSmallest = 256;
  if (size_bytes <= kSmallest) return kSmallest;
  const std::size_t step = std::size_t{1} << (std::bit_width(size_bytes - 1) - 3);
  return (size_bytes + step - 1) / step * step;
}

}  // namespace

BufferPool::BufferPool(Device& device) : state_(std::make_shared<State>(State{device, {}, 0})) {}

std::size_t BufferPool::reserved_bytes() const { return state_->reserved_bytes; }

Tensor BufferPool::allocate(DType dtype, Sizes sizes) {
  const std::size_t size_bytes =
      static_cast<std::size_t>(element_count(sizes)) * info(dtype).size_bytes;
  const std::size_t capacity = capacity_for(size_bytes);
  StoragePointer block;
  // A block of up to twice the size will do; a larger one is kept for what needs it.
  if (const auto found = state_->free.lower_bound(capacity);
      found != state_->free.end() && found->first <= 2 * capacity) {
    block = std::move(found->second);
    state_->free.erase(found);
  } else {
    block = state_->device.allocate(capacity);
    state_->reserved_bytes += capacity;
  }
  Storage* lent = new Storage{&state_->device, block->pointer, size_bytes};
  StoragePointer storage(lent, [state = state_, block = std::move(block)](Storage* returned) {
    delete returned;
    state->free.emplace(block->size_bytes, block);
  });
  Sizes strides = contiguous_strides(sizes);
  return Tensor::view_of(std::move(storage), dtype, std::move(sizes), std::move(strides), 0);
}

}  // namespace hone
