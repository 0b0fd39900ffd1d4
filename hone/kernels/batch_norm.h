#pragma once

#include <cstdint>

#include "hone/base/thread_pool.h"

/// Normalisation of every channel of images over a batch (Ioffe and Szegedy, "Batch normalization", 2015).
namespace hone::kernels {

/// Sizes: x and y are (batch, channels, pixels), all other arrays (channels).
struct BatchNormShape {
  std::int64_t batch = 0, channels = 0, pixels = 0;

  /// Returns the number of values per channel.
  std::int64_t count() const { return batch * pixels; }
};

/// Computes y = (x - mean) / sqrt(variance + eps) gamma + beta; y may be the same array as x.
void batch_norm(ThreadPool& pool, const BatchNormShape& shape, const float* x, const float* gamma,
                const float* beta, const float* mean, const float* variance, float eps, float* y);

/// Computes the same with mean and biased variance of the batch. Stores the mean and the unbiased variance, the sum of
/// squares over count - 1. A channel must have at least 2 values.
void batch_norm_training(ThreadPool& pool, const BatchNormShape& shape, const float* x,
                         const float* gamma, const float* beta, float eps, float* y, float* mean,
                         float* variance);

/// Computes the gradients of `batch_norm_training`; mean and variance are recomputed from x.
/// With xhat = (x - mean) / deviation:
///
///     dbeta = sum dy,   dgamma = sum dy xhat,   dx = gamma / deviation (dy - (dbeta + xhat dgamma) / count)
///
/// dx may be the same array as dy.
void batch_norm_gradient(ThreadPool& pool, const BatchNormShape& shape, const float* x,
                         const float* gamma, float eps, const float* dy, float* dx, float* dgamma,
                         float* dbeta);

}  // namespace hone::kernels
