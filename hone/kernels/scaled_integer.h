#pragma once

#include <cstdint>

#include "hone/base/thread_pool.h"

/// Rounding to integer multiples of a scale. The bits of all results are the same on every CPU and for any number of
/// threads.
namespace hone::kernels {

/// The multiples k of `scale` with lowest <= k <= highest. The scale is between the smallest normal float and the
/// largest for which all multiples are finite.
struct ScaledGrid {
  float scale = 1.0f;
  float lowest = 0.0f;  ///< Integers, exact in float.
  float highest = 0.0f;
};

/// Returns `scale`, clamped to these limits for multiples up to `bound`.
float usable_scale(float scale, float bound);

/// Computes y = clamp(round(x (1/scale)), lowest, highest) scale, with every operation rounded to float and ties to
/// even. Infinities saturate, NaN stays NaN. y may be the same array as x.
void round_to_grid(ThreadPool& pool, const ScaledGrid& grid, std::int64_t n, const float* x,
                   float* y);

/// Computes, with v = x (1/scale), dx = dy where lowest <= v <= highest, else 0. Returns the gradient of the scale: the
/// sum of dy times round(v) - v inside and the bound outside (Esser et al., "Learned step size quantization", 2020). dx
/// and dy may be the same array.
double round_to_grid_gradient(ThreadPool& pool, const ScaledGrid& grid, std::int64_t n,
                              const float* x, const float* dy, float* dx);

/// The smallest and the largest of the finite values and 0.
struct ValueRange {
  float lowest = 0.0f;
  float highest = 0.0f;
};
ValueRange finite_range(ThreadPool& pool, std::int64_t n, const float* x);

}  // namespace hone::kernels
