#pragma once

#include <cstdint>

#include "hone/base/thread_pool.h"

/// Mean squared error of n predictions against as many targets.
namespace hone::kernels {

/// Mean of (predictions - targets)², computed in double. NaN where n is 0.
float mean_squared_error(ThreadPool& pool, std::int64_t n, const float* predictions,
                         const float* targets);

/// dpredictions = 2 (predictions - targets) dloss / n.
void mean_squared_error_gradient(ThreadPool& pool, std::int64_t n, const float* predictions,
                                 const float* targets, float dloss, float* dpredictions);

}  // namespace hone::kernels
