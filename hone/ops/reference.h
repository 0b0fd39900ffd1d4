#pragma once

#include <array>
#include <span>
#include <vector>

#include "hone/ir/call.h"

/// Plain loops for reference kernels, slow on purpose: one element at a time, in double.
namespace hone::reference {

/// Returns the strides for walking `tensor` in step with an output of `sizes`: 0 along broadcast axes.
inline Sizes broadcast_strides(const Tensor& tensor, const Sizes& sizes) {
  Sizes strides(sizes.size(), 0);
  const std::size_t skipped = sizes.size() - tensor.sizes().size();
  for (std::size_t i = 0; i < tensor.sizes().size(); ++i) {
    if (tensor.sizes()[i] != 1) strides[skipped + i] = tensor.strides()[i];
  }
  return strides;
}

/// y = f(x), element by element.
template <typename F>
void map(Call& call, F&& f) {
  const Tensor& x = call.input(0);
  Tensor& y = call.output();
  float* out = y.data<float>();
  const float* in = x.data<float>();
  for_each_element<1>(x.sizes(), {&x.strides()}, [&](const auto& at) {
    *out++ = static_cast<float>(f(static_cast<double>(in[at[0]])));
  });
}

/// y = f(a, b), with broadcasting.
template <typename F>
void map2(Call& call, F&& f) {
  Tensor& y = call.output();
  const Sizes a_strides = broadcast_strides(call.input(0), y.sizes());
  const Sizes b_strides = broadcast_strides(call.input(1), y.sizes());
  const float* a = call.input(0).data<float>();
  const float* b = call.input(1).data<float>();
  float* out = y.data<float>();
  for_each_element<2>(y.sizes(), {&a_strides, &b_strides}, [&](const auto& at) {
    *out++ = static_cast<float>(f(static_cast<double>(a[at[0]]), static_cast<double>(b[at[1]])));
  });
}

/// Returns the elements of `tensor` in row-major order, copied if it is strided.
inline Tensor dense(const Tensor& tensor) {
  return tensor.contiguous() ? tensor : tensor.contiguous_copy();
}

/// A dense tensor as rows along its last axis.
struct Rows {
  explicit Rows(const Tensor& tensor)
      : tensor_(dense(tensor)), length(tensor.rank() == 0 ? 1 : tensor.size(-1)) {
    count = length == 0 ? 0 : tensor_.count() / length;
  }
  std::span<const float> operator[](std::int64_t row) const {
    return tensor_.values<float>().subspan(static_cast<std::size_t>(row * length),
                                           static_cast<std::size_t>(length));
  }

 private:
  Tensor tensor_;

 public:
  std::int64_t length;
  std::int64_t count = 0;
};

/// Returns row `row` of an output along its last axis.
inline std::span<float> row_of(const Tensor& output, std::int64_t row) {
  const std::int64_t length = output.size(-1);
  return output.values<float>().subspan(static_cast<std::size_t>(row * length),
                                        static_cast<std::size_t>(length));
}

/// Stores sums accumulated in double.
inline void store(const std::vector<double>& sums, Tensor& output) {
  std::transform(sums.begin(), sums.end(), output.data<float>(),
                 [](double sum) { return static_cast<float>(sum); });
}

}  // namespace hone::reference
