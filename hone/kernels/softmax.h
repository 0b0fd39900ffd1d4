#pragma once

#include <cstdint>

#include "hone/base/thread_pool.h"

/// Softmax over the last axis of x (rows, n). Outputs may be the same array as an input.
namespace hone::kernels {

/// Computes y = e^(x - max) / sum of e^(x - max) per row. Entries more than 87 below the maximum give exact zeros; a
/// row of only -infinity, or with NaN or +infinity, gives NaN.
void softmax(ThreadPool& pool, std::int64_t rows, std::int64_t n, const float* x, float* y);

/// Computes dx = y (dy - sum of y dy) per row, from the result y of `softmax`.
void softmax_gradient(ThreadPool& pool, std::int64_t rows, std::int64_t n, const float* y,
                      const float* dy, float* dx);

}  // namespace hone::kernels
