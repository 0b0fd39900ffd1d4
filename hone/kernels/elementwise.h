#pragma once

#include <cstdint>
#include <span>

#include "hone/base/thread_pool.h"

/// Sums, products, copies and reductions of strided tensors of at most 6 dimensions.
///
/// An operand is a pointer and one stride per dimension, in elements; stride 0 repeats it along
/// that dimension. Results are contiguous. A result may be the same array as an operand that is
/// contiguous and of the same shape.
namespace hone::kernels {

using Extents = std::span<const std::int64_t>;

/// An operand with strides for the shape of the result.
struct Strided {
  const float* data = nullptr;
  Extents strides;
};

/// Computes out = x + y.
void add(ThreadPool& pool, Extents shape, const Strided& x, const Strided& y, float* out);
/// Computes out = x y.
void multiply(ThreadPool& pool, Extents shape, const Strided& x, const Strided& y, float* out);
/// Copies x to contiguous out. Fast if some dimension of x has stride 1: runs are copied or blocks transposed.
void copy(ThreadPool& pool, Extents shape, const Strided& x, float* out);

/// Computes y[i] = factor x[i] for n contiguous elements.
void scale(ThreadPool& pool, std::int64_t n, float factor, const float* x, float* y);
/// Sets y[i] = value for n contiguous elements.
void fill(ThreadPool& pool, std::int64_t n, float value, float* y);

}  // namespace hone::kernels
