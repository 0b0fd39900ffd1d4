#include "hone/tensor/dense.h"

namespace hone {

Tensor dense_on(const Tensor& tensor, Device& device) {
  if (tensor.contiguous()) return tensor.on(device);
  const Tensor dense = Tensor::empty(tensor.dtype(), tensor.sizes(), tensor.device());
  tensor.device().copy_strided(tensor, dense);
  return dense.on(device);
}

}  // namespace hone
