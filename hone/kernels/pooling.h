#pragma once

#include <cstdint>

#include "hone/base/thread_pool.h"

/// Pooling of planes, each a channel of an image.
namespace hone::kernels {

/// A square window that moves over planes (height, width).
struct PoolingShape {
  std::int64_t planes = 0, height = 0, width = 0;
  std::int64_t kernel = 1, stride = 1, padding = 0;  ///< padding at most half the kernel

  std::int64_t result_height() const { return positions(height); }
  std::int64_t result_width() const { return positions(width); }

 private:
  // Returns 0 if the window does not fit.
  std::int64_t positions(std::int64_t size) const {
    const std::int64_t room = size + 2 * padding - kernel;
    return room < 0 ? 0 : room / stride + 1;
  }
};

/// Computes y (planes, result_height, result_width), the largest value of each window.
void max_pool(ThreadPool& pool, const PoolingShape& shape, const float* x, float* y);

/// Computes dx, overwriting it: adds dy of each window at the first of its largest values in row-major order.
void max_pool_gradient(ThreadPool& pool, const PoolingShape& shape, const float* x, const float* dy,
                       float* dx);

/// Computes y (planes), the mean of the `pixels` values of each plane.
void average_pool(ThreadPool& pool, std::int64_t planes, std::int64_t pixels, const float* x,
                  float* y);

/// Computes dx (planes, pixels) = dy / pixels.
void average_pool_gradient(ThreadPool& pool, std::int64_t planes, std::int64_t pixels,
                           const float* dy, float* dx);

}  // namespace hone::kernels
