#include "hone/tensor/dense.h"

namespace hone {
namespace {

// A view of memory that the host may read.
Tensor on_host(const Tensor& view) {
  if (view.device().host_accessible()) return view;
  const StoragePointer& storage = view.storage();
  const Tensor all =
      Tensor::view_of(storage, DType::u8, {static_cast<std::int64_t>(storage->size_bytes)}, {1}, 0)
          .on(cpu());
  return Tensor::view_of(all.storage(), view.dtype(), view.sizes(), view.strides(), view.offset());
}

}  // namespace

Tensor dense_on(const Tensor& tensor, Device& device) {
  return tensor.contiguous() ? tensor.on(device) : on_host(tensor).contiguous_copy().on(device);
}

}  // namespace hone
