#pragma once

#include <span>

#include "hone/tensor/tensor.h"

namespace hone {

/// Returns the elements as a contiguous, row-major tensor in memory of `device`; the tensor itself if it already is.
Tensor dense_on(const Tensor& tensor, Device& device);

/// Returns the bytes of a contiguous host tensor of any type.
inline std::span<const std::byte> host_bytes(const Tensor& dense) {
  HONE_ASSERT(dense.contiguous() && &dense.device() == &cpu(), "bytes of a tensor elsewhere");
  return {dense.device_pointer(), dense.size_bytes()};
}

}  // namespace hone
