#pragma once

#include "hone/tensor/tensor.h"

namespace hone {

/// The same elements without gaps and in row-major order, in memory of `device`: the tensor itself where it is so already.
Tensor dense_on(const Tensor& tensor, Device& device);

}  // namespace hone
