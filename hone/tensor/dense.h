#pragma once

#include <span>

#include "hone/tensor/tensor.h"

namespace hone {

/// The same elements without gaps and in row-major order, in memory of `device`: the tensor itself where it is so already.
Tensor dense_on(const Tensor& tensor, Device& device);

/// The bytes of such a tensor on the host, whatever its elements are.
inline std::span<const std::byte> host_bytes(const Tensor& dense) {
  HONE_ASSERT(dense.contiguous() && &dense.device() == &cpu(), "bytes of a tensor elsewhere");
  return {dense.device_pointer(), dense.size_bytes()};
}

}  // namespace hone
