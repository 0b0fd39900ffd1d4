#pragma once

#include <cstdint>

#include "hone/base/thread_pool.h"

/// Rounding to fixed-point numbers: integers between `lowest` and `highest` times 2^-fraction_bits.
namespace hone::kernels {

/// For 8 bits of which 4 are fraction: {4, -128, 127} has the values -8, -7.9375, ... 7.9375.
struct FixedPoint {
  int fraction_bits = 0;  ///< -126 to 126; negative for steps above 1.
  float lowest = 0.0f;    ///< Integers, exact in float.
  float highest = 0.0f;
};

/// y = clamp(round(x 2^fraction_bits), lowest, highest) 2^-fraction_bits; ties go to even.
/// Infinities saturate, NaN stays NaN, zeros keep the sign of x. The bits of y are the same on
/// every processor. y may be the same array as x.
void round_to_fixed_point(ThreadPool& pool, const FixedPoint& format, std::int64_t n,
                          const float* x, float* y);

/// The same with the largest integer not above x 2^fraction_bits instead of the nearest.
void floor_to_fixed_point(ThreadPool& pool, const FixedPoint& format, std::int64_t n,
                          const float* x, float* y);

}  // namespace hone::kernels
