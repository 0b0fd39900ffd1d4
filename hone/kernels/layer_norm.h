#pragma once

#include <cstdint>

#include "hone/base/thread_pool.h"

/// Layer normalisation over the last axis of x (rows, c) (Ba, Kiros and Hinton, 2016).
///
/// With the mean and the population variance of a row, xhat = (x - mean) / sqrt(variance + eps).
namespace hone::kernels {

/// Computes y = xhat gamma + beta; x, y (rows, c), gamma, beta (c). y may be the same array as x.
void layer_norm(ThreadPool& pool, std::int64_t rows, std::int64_t c, const float* x,
                const float* gamma, const float* beta, float eps, float* y);

/// Computes the gradients of all three inputs; xhat is recomputed from x. dx may be the same array as dy.
///
///     g = dy gamma
///     dx = (g - mean(g) - xhat mean(g xhat)) / sqrt(variance + eps)      (rows, c)
///     dgamma = sum over rows of dy xhat,  dbeta = sum over rows of dy      (c), overwritten
void layer_norm_gradient(ThreadPool& pool, std::int64_t rows, std::int64_t c, const float* x,
                         const float* gamma, float eps, const float* dy, float* dx, float* dgamma,
                         float* dbeta);

}  // namespace hone::kernels
