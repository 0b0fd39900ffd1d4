#pragma once

#include "hone/tensor/tensor.h"

namespace hone::cuda {

/// Enqueues a copy of the elements of `from` to `to`, which has the same sizes and type and is on the same device. Both
/// may be strided, with at most 6 dimensions once contiguous ones are merged.
void copy_elements(Device& device, const Tensor& from, const Tensor& to);

/// Does the same for a dense `to`.
inline void copy_dense(Device& device, const Tensor& from, const Tensor& to) {
  HONE_ASSERT(to.contiguous(), "a dense copy goes to {} of gaps", hone::to_string(to.sizes()));
  copy_elements(device, from, to);
}

}  // namespace hone::cuda
