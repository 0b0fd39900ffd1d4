#pragma once

#include "hone/tensor/tensor.h"

namespace hone::cuda {

/// Puts a copy of the elements of `from` on the queue, into `to` of the same sizes and type on that device. Both may be
/// strided, but need no more than 6 dimensions once those that lie one behind the other are taken as one.
void copy_elements(Device& device, const Tensor& from, const Tensor& to);

/// The same into memory without gaps.
inline void copy_dense(Device& device, const Tensor& from, const Tensor& to) {
  HONE_ASSERT(to.contiguous(), "a dense copy goes to {} of gaps", hone::to_string(to.sizes()));
  copy_elements(device, from, to);
}

}  // namespace hone::cuda
