#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>

#include "hone/base/error.h"
#include "hone/tensor/device.h"
#include "hone/tensor/dtype.h"
#include "hone/tensor/shape.h"

/// A tensor is a typed, strided view of a storage on a device. Copies share the storage.
///
///     Tensor x = Tensor::of<float>({2, 3}, {1, 2, 3, 4, 5, 6});
///     x.transpose({1, 0}).slice(0, 1, 3)    // views: (2,2), strides (1,3)
namespace hone {

class Tensor {
 public:
  Tensor() = default;

  /// Returns a contiguous tensor with undefined contents.
  static Tensor empty(DType dtype, Sizes sizes, Device& device = cpu());
  /// Returns a contiguous tensor with all bits zero.
  static Tensor zeros(DType dtype, Sizes sizes, Device& device = cpu());
  /// Returns a contiguous host tensor of values in row-major order.
  template <typename T>
  static Tensor of(Sizes sizes, const std::vector<T>& values);
  template <typename T>
  static Tensor scalar(T value) {
    return of<T>({}, {value});
  }
  /// Returns a view of a storage; `offset` and `strides` are in elements.
  static Tensor view_of(StoragePointer storage, DType dtype, Sizes sizes, Sizes strides,
                        std::int64_t offset);

  bool defined() const { return storage_ != nullptr; }
  DType dtype() const { return dtype_; }
  const Sizes& sizes() const { return sizes_; }
  const Sizes& strides() const { return strides_; }
  std::int64_t offset() const { return offset_; }
  std::int64_t rank() const { return static_cast<std::int64_t>(sizes_.size()); }
  /// Returns the extent of an axis; negative axes count from the end.
  std::int64_t size(std::int64_t axis) const {
    return sizes_[static_cast<std::size_t>(axis < 0 ? axis + rank() : axis)];
  }
  std::int64_t count() const { return element_count(sizes_); }
  std::size_t size_bytes() const {
    return static_cast<std::size_t>(count()) * info(dtype_).size_bytes;
  }
  bool contiguous() const;
  Device& device() const { return *storage_->device; }
  const StoragePointer& storage() const { return storage_; }

  /// Returns the address of the first element on its device, for kernels of that device only.
  std::byte* device_pointer() const {
    return storage_->pointer + static_cast<std::size_t>(offset_) * info(dtype_).size_bytes;
  }
  /// Returns the address of the first element on the host. Throws `InternalError` if the memory is not on the host or
  /// the element type differs.
  template <typename T>
  T* data() const {
    check_host_access(dtype_of<T>);
    return reinterpret_cast<T*>(device_pointer());
  }
  /// Returns the elements of a contiguous host tensor.
  template <typename T>
  std::span<T> values() const {
    HONE_ASSERT(contiguous(), "values() of a strided tensor {}", to_string(sizes_));
    return {data<T>(), static_cast<std::size_t>(count())};
  }

  /// Views. `reshape` needs a contiguous tensor and the same number of elements.
  Tensor reshape(Sizes sizes) const;
  Tensor transpose(const Sizes& axes) const;
  Tensor slice(std::int64_t axis, std::int64_t begin, std::int64_t end) const;

  /// Copies. `contiguous_copy` and `cast` read host memory. `cast` rounds to nearest, ties to even, but truncates
  /// towards zero for integer types; values outside the integer range are undefined.
  Tensor contiguous_copy() const;
  Tensor cast(DType dtype) const;
  /// Returns a copy of a contiguous tensor in new memory of `device`.
  Tensor copy_to(Device& device) const;
  /// Returns the tensor on `device`; itself if it is already there.
  Tensor on(Device& device) const { return &this->device() == &device ? *this : copy_to(device); }

 private:
  void check_host_access(DType dtype) const;

  StoragePointer storage_;
  DType dtype_ = DType::f32;
  Sizes sizes_;
  Sizes strides_;
  std::int64_t offset_ = 0;  // in elements
};

template <typename T>
Tensor Tensor::of(Sizes sizes, const std::vector<T>& values) {
  Tensor tensor = empty(dtype_of<T>, sizes);
  HONE_ASSERT(tensor.count() == static_cast<std::int64_t>(values.size()), "{} values for shape {}",
              values.size(), to_string(tensor.sizes()));
  std::copy(values.begin(), values.end(), tensor.data<T>());
  return tensor;
}

using TensorMap = std::map<std::string, Tensor, std::less<>>;

/// Calls `body(T{})` with the C++ type of `dtype`.
template <typename Body>
decltype(auto) dispatch(DType dtype, Body&& body) {
  switch (dtype) {
    case DType::f32:
      return body(float{});
    case DType::f16:
      return body(Half{});
    case DType::bf16:
      return body(BFloat16{});
    case DType::f64:
      return body(double{});
    case DType::i64:
      return body(std::int64_t{});
    case DType::i32:
      return body(std::int32_t{});
    case DType::i8:
      return body(std::int8_t{});
    case DType::u8:
      return body(std::uint8_t{});
    case DType::boolean:
      return body(bool{});
  }
  HONE_ASSERT(false, "dtype {}", static_cast<int>(dtype));
}

/// Calls `body(offsets)` with the element offset into each of the strided operands, in row-major order of `sizes`. Slow
/// but simple; for reference kernels.
template <std::size_t N, typename Body>
void for_each_element(const Sizes& sizes, const std::array<const Sizes*, N>& strides, Body&& body) {
  std::array<std::int64_t, N> offsets{};
  Sizes index(sizes.size(), 0);
  const std::int64_t count = element_count(sizes);
  for (std::int64_t i = 0; i < count; ++i) {
    body(offsets);
    for (std::size_t axis = sizes.size(); axis-- > 0;) {
      const std::int64_t wrap = ++index[axis] == sizes[axis] ? index[axis] - 1 : -1;
      for (std::size_t k = 0; k < N; ++k)
        offsets[k] += (wrap < 0 ? 1 : -wrap) * (*strides[k])[axis];
      if (wrap < 0) break;
      index[axis] = 0;
    }
  }
}

}  // namespace hone
