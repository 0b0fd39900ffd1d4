#pragma once

#include <cstdint>

#include "hone/base/thread_pool.h"

/// Mean squared error of n predictions and n targets.
namespace hone::kernels {

/// Returns the mean of (predictions - targets)², computed in double; NaN if n is 0.
float mean_squared_error(ThreadPool& pool, std::int64_t n, const float* predictions,
                         const float* targets);

/// Computes dpredictions = 2 (predictions - targets) dloss / n.
void mean_squared_error_gradient(ThreadPool& pool, std::int64_t n, const float* predictions,
                                 const float* targets, float dloss, float* dpredictions);

}  // namespace hone::kernels
