#pragma once

#include <cstdint>

#include "hone/base/thread_pool.h"

/// Normalisation of every channel of images over a batch (Ioffe and Szegedy, "Batch normalization", 2015).
namespace hone::kernels {

/// x and y are (batch, channels, pixels), all else (channels).
struct BatchNormShape {
  std::int64_t batch = 0, channels = 0, pixels = 0;

  /// Values of a channel.
  std::int64_t count() const { return batch * pixels; }
};

/// y = (x - mean) / sqrt(variance + eps) gamma + beta; y may be the same array as x.
void batch_norm(ThreadPool& pool, const BatchNormShape& shape, const float* x, const float* gamma,
                const float* beta, const float* mean, const float* variance, float eps, float* y);

/// The same by mean and variance of the batch, which are given, the variance unbiased: sums of squares over count - 1. At least
/// 2 values in a channel.
void batch_norm_training(ThreadPool& pool, const BatchNormShape& shape, const float* x,
                         const float* gamma, const float* beta, float eps, float* y, float* mean,
                         float* variance);

/// Its gradients; mean and variance are taken anew from x. With xhat = (x - mean) / deviation:
///
///     dbeta = sum dy,   dgamma = sum dy xhat,   dx = gamma / deviation (dy - (dbeta + xhat dgamma) / count)
///
/// dx may be the same array as dy.
void batch_norm_gradient(ThreadPool& pool, const BatchNormShape& shape, const float* x,
                         const float* gamma, float eps, const float* dy, float* dx, float* dgamma,
                         float* dbeta);

}  // namespace hone::kernels
