#include "hone/tensor/tensor.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace hone {

Tensor Tensor::empty(DType dtype, Sizes sizes, Device& device) {
  Tensor tensor;
  tensor.dtype_ = dtype;
  tensor.strides_ = contiguous_strides(sizes);
  tensor.sizes_ = sizes;
  tensor.storage_ = device.allocate(tensor.size_bytes());
  return tensor;
}

Tensor Tensor::zeros(DType dtype, Sizes sizes, Device& device) {
  Tensor host = empty(dtype, sizes);
  std::memset(host.device_pointer(), 0, host.size_bytes());
  return host.on(device);
}

Tensor Tensor::view_of(StoragePointer storage, DType dtype, Sizes sizes, Sizes strides,
                       std::int64_t offset) {
  Tensor tensor;
  tensor.storage_ = std::move(storage);
  tensor.dtype_ = dtype;
  tensor.sizes_ = sizes;
  tensor.strides_ = strides;
  tensor.offset_ = offset;
  return tensor;
}

bool Tensor::contiguous() const {
  std::int64_t stride = 1;
  for (std::size_t axis = sizes_.size(); axis-- > 0;) {
    if (sizes_[axis] != 1 && strides_[axis] != stride) return false;
    stride *= sizes_[axis];
  }
  return true;
}

void Tensor::check_host_access(DType dtype) const {
  HONE_ASSERT(storage_ != nullptr, "access to an undefined tensor");
  HONE_ASSERT(storage_->device->host_accessible(), "host access to memory of device {}",
              to_string(*storage_->device));
  HONE_ASSERT(dtype == dtype_, "access as {} to a tensor of {}", info(dtype).name,
              info(dtype_).name);
}

Tensor Tensor::reshape(Sizes sizes) const {
  HONE_ASSERT(contiguous(), "reshape of a strided tensor {}", to_string(sizes_));
  HONE_ASSERT(element_count(sizes) == count(), "reshape of {} to {}", to_string(sizes_),
              to_string(sizes));
  Tensor view = *this;
  view.strides_ = contiguous_strides(sizes);
  view.sizes_ = sizes;
  return view;
}

Tensor Tensor::transpose(const Sizes& axes) const {
  HONE_ASSERT(axes.size() == sizes_.size(), "transpose {} of rank {}", to_string(axes), rank());
  Tensor view = *this;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    view.sizes_[i] = sizes_[static_cast<std::size_t>(axes[i])];
    view.strides_[i] = strides_[static_cast<std::size_t>(axes[i])];
  }
  return view;
}

Tensor Tensor::slice(std::int64_t axis, std::int64_t begin, std::int64_t end) const {
  const std::size_t at = static_cast<std::size_t>(axis < 0 ? axis + rank() : axis);
  HONE_ASSERT(at < sizes_.size() && 0 <= begin && begin <= end && end <= sizes_[at],
              "slice [{}, {}) of axis {} of {}", begin, end, axis, to_string(sizes_));
  Tensor view = *this;
  view.sizes_[at] = end - begin;
  view.offset_ += begin * strides_[at];
  return view;
}

Tensor Tensor::contiguous_copy() const {
  Tensor copy = empty(dtype_, sizes_);
  dispatch(dtype_, [&](auto element) {
    using T = decltype(element);
    const T* from = data<T>();
    T* to = copy.data<T>();
    for_each_element<1>(sizes_, {&strides_},
                        [&](const auto& offsets) { *to++ = from[offsets[0]]; });
  });
  return copy;
}

namespace {

// Rounds to odd: returns a neighboring f32 whose last bit marks that bits were lost. Rounding it to fewer bits equals
// rounding `value` directly; the nearest f32 could be a tie although `value` is not (Boldo and Melquiond, "Emulation of
// FMA and correctly rounded sums", 2008).
float rounded_to_odd(double value) {
  const float nearest = static_cast<float>(value);
  const double error = value - static_cast<double>(nearest);
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(nearest);
  if (!(error != 0) || (bits & 1) != 0 || std::isinf(nearest)) return nearest;
  return std::nextafter(nearest, error > 0 ? HUGE_VALF : -HUGE_VALF);
}

template <typename To, typename From>
To convert(From value) {
  constexpr bool from_bits = std::is_same_v<From, Half> || std::is_same_v<From, BFloat16>;
  if constexpr (std::is_same_v<To, From>) {
    return value;
  } else if constexpr (from_bits) {
    return convert<To>(to_float(value));
  } else if constexpr (std::is_same_v<To, Half>) {
    return to_half(rounded_to_odd(static_cast<double>(value)));
  } else if constexpr (std::is_same_v<To, BFloat16>) {
    return to_bfloat16(rounded_to_odd(static_cast<double>(value)));
  } else {
    return static_cast<To>(value);
  }
}

}  // namespace

Tensor Tensor::cast(DType dtype) const {
  if (dtype == dtype_) return *this;
  const Tensor source = contiguous() ? *this : contiguous_copy();
  Tensor result = empty(dtype, sizes_);
  dispatch(dtype_, [&](auto from) {
    dispatch(dtype, [&](auto to) {
      const auto values = source.values<decltype(from)>();
      std::transform(values.begin(), values.end(), result.data<decltype(to)>(),
                     [](auto value) { return convert<decltype(to)>(value); });
    });
  });
  return result;
}

Tensor Tensor::copy_to(Device& target) const {
  HONE_ASSERT(contiguous(), "copy of a strided tensor {} to {}", to_string(sizes_),
              to_string(target));
  Tensor copy = empty(dtype_, sizes_, target);
  const std::size_t bytes = size_bytes();
  if (&device() == &target) {
    target.copy(copy.device_pointer(), device_pointer(), bytes);
  } else if (device().host_accessible()) {
    target.upload(copy.device_pointer(), {device_pointer(), bytes});
  } else {
    user_check(target.host_accessible(), "copy from {} to {}: go through the host",
               to_string(device()), to_string(target));
    device().download({copy.device_pointer(), bytes}, device_pointer());
  }
  return copy;
}

}  // namespace hone
