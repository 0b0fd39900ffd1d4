#pragma once

#include <cstdint>

#include "hone/base/thread_pool.h"

/// Activations and their gradients over n contiguous floats. Outputs may be the same array as an
/// input of the same index. NaN stays NaN.
namespace hone::kernels {

/// Computes y = x/2 (1 + erf(x / sqrt 2)), with an error below 6 |x| 2^-24 (Hendrycks and Gimpel, 2016).
void gelu_erf(ThreadPool& pool, std::int64_t n, const float* x, float* y);
/// Computes dx = dy (Phi(x) + x phi(x)), with the distribution Phi and the density phi of the standard normal.
void gelu_erf_gradient(ThreadPool& pool, std::int64_t n, const float* x, const float* dy,
                       float* dx);

/// Computes y = x/2 (1 + tanh u), u = sqrt(2/pi) (x + 0.044715 x^3).
void gelu_tanh(ThreadPool& pool, std::int64_t n, const float* x, float* y);
/// Computes dx = dy ((1 + t)/2 + x/2 (1 - t^2) u'), t = tanh u.
void gelu_tanh_gradient(ThreadPool& pool, std::int64_t n, const float* x, const float* dy,
                        float* dx);

/// Computes y = tanh x, with a relative error below 4e-7.
void tanh(ThreadPool& pool, std::int64_t n, const float* x, float* y);
/// Computes dx = dy (1 - y^2), from the result of `tanh`.
void tanh_gradient(ThreadPool& pool, std::int64_t n, const float* y, const float* dy, float* dx);

/// Computes y = max(x, 0).
void relu(ThreadPool& pool, std::int64_t n, const float* x, float* y);
/// Computes dx = dy where x > 0, else 0.
void relu_gradient(ThreadPool& pool, std::int64_t n, const float* x, const float* dy, float* dx);

}  // namespace hone::kernels
