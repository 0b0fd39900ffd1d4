#pragma once

#include <cstdint>

#include "hone/base/thread_pool.h"

/// Pruning of n contiguous elements. A result may be the same array as an operand of floats.
namespace hone::kernels {

/// Computes y = x where `kept`, else 0.
void mask(ThreadPool& pool, std::int64_t n, const float* x, const bool* kept, float* y);
/// Computes y = x where |x| >= least, else 0; NaN stays NaN.
void threshold(ThreadPool& pool, std::int64_t n, float least, const float* x, float* y);
/// Computes dx = dy where |x| >= least, else 0.
void threshold_gradient(ThreadPool& pool, std::int64_t n, float least, const float* x,
                        const float* dy, float* dx);

}  // namespace hone::kernels
