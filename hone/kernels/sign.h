#pragma once

#include <cstdint>
#include <span>

#include "hone/base/thread_pool.h"

/// Rounding to sums and differences of a few constants. sign(0) = +1 and sign(NaN) = +1, except where NaN stays NaN.
/// The bits of all results are the same on every CPU and for any number of threads.
namespace hone::kernels {

inline constexpr int kMaxSignLevels = 4;

/// Computes y = sum of means[l] sign(r_l) with r_0 = x and r_{l+1} = r_l - means[l] sign(r_l); a single mean gives
/// plain signs. NaN stays NaN. There are 1 to kMaxSignLevels means; y may be the same array as x.
void residual_signs(ThreadPool& pool, std::span<const float> means, std::int64_t n, const float* x,
                    float* y);

/// Returns the sum of dy sign(r_l): the gradient of `residual_signs` with respect to means[l], with residuals held
/// fixed.
double residual_sign_gradient(ThreadPool& pool, std::span<const float> means, int l, std::int64_t n,
                              const float* x, const float* dy);

/// Computes dx = dy where |x| <= bound, else 0. dx and dy may be the same array.
void clip_gradient(ThreadPool& pool, float bound, std::int64_t n, const float* x, const float* dy,
                   float* dx);

/// Computes y = alpha sign(x) where |x| > threshold, else 0; NaN stays NaN. y may be the same array as x.
void signs_above(ThreadPool& pool, float threshold, float alpha, std::int64_t n, const float* x,
                 float* y);

}  // namespace hone::kernels
