#pragma once

#include <cstdint>
#include <string_view>
#include <type_traits>

#include "hone/cuda/compiler.h"
#include "hone/cuda/device.h"
#include "hone/ir/call.h"

/// Launches kernels of hone/cuda/source for rows of the kernel table.
namespace hone::cuda {

struct Extent {
  std::int64_t x = 1, y = 1, z = 1;
};

/// One launch of a kernel, which its source declares as `extern "C" __global__`.
struct Launch {
  const Program& program;
  const char* function;
  Extent grid, block;
  std::size_t shared_bytes = 0;  ///< dynamic
};

/// Puts a kernel on the queue. `arguments` are the addresses of its arguments.
void launch(Device& device, const Launch& launch, void** arguments);

/// Passes arguments by value: pointers, numbers and plain structs, of exactly the types that the kernel declares.
template <typename... Arguments>
void launch(Device& device, const Launch& start, const Arguments&... arguments) {
  static_assert((std::is_trivially_copyable_v<Arguments> && ...));
  void* addresses[] = {const_cast<void*>(static_cast<const void*>(&arguments))..., nullptr};
  launch(device, start, addresses);
}

/// Returns the GPU that a call runs on.
CudaDevice& device_of(Device& device);

/// Fills memory with zero bits, on the queue.
void fill_zeros(Device& device, void* to, std::size_t size_bytes);

// ---- access to the operands of a call

template <typename T>
T* pointer(const Tensor& tensor) {
  HONE_ASSERT(tensor.dtype() == dtype_of<T>, "a kernel reads {} as {}", info(tensor.dtype()).name,
              info(dtype_of<T>).name);
  return reinterpret_cast<T*>(tensor.device_pointer());
}
inline const float* floats(const Call& call, std::size_t index) {
  return pointer<float>(call.input(index));
}
inline const float* optional_floats(const Call& call, std::size_t index) {
  return call.has_input(index) ? floats(call, index) : nullptr;
}
inline const std::int64_t* integers(const Call& call, std::size_t index) {
  return pointer<std::int64_t>(call.input(index));
}
inline std::int64_t row_length(const Tensor& tensor) { return tensor.size(-1); }
inline std::int64_t row_count(const Tensor& tensor) {
  return row_length(tensor) == 0 ? 0 : tensor.count() / row_length(tensor);
}
constexpr std::int64_t ceil_divide(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

}  // namespace hone::cuda
