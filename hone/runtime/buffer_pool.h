#pragma once

#include <map>
#include <memory>

#include "hone/tensor/tensor.h"

namespace hone {

/// Memory of one device that is allocated once and handed out again and again. A tensor returns its block when its last
/// view goes, even after the pool itself is gone. For one thread.
class BufferPool {
 public:
  explicit BufferPool(Device& device);

  Tensor allocate(DType dtype, Sizes sizes);
  /// All memory taken from the device so far, in use or waiting.
  std::size_t reserved_bytes() const;

 private:
  struct State {
    Device& device;
    std::multimap<std::size_t, StoragePointer> free;  // by capacity
    std::size_t reserved_bytes = 0;
  };
  std::shared_ptr<State> state_;
};

}  // namespace hone
