#pragma once

#include <cstdint>

#include "hone/base/thread_pool.h"

/// Rounding to fixed-point numbers: integers between `lowest` and `highest` times 2^-fraction_bits.
namespace hone::kernels {

/// Example with 8 bits, 4 of them fraction: {4, -128, 127} has the values -8, -7.9375, ... 7.9375.
struct FixedPoint {
  int fraction_bits = 0;  ///< -126 to 126; negative for steps above 1.
  float lowest = 0.0f;    ///< Integers, exact in float.
  float highest = 0.0f;
};

/// Computes y = clamp(round(x 2^fraction_bits), lowest, highest) 2^-fraction_bits, with ties to even. Infinities
/// saturate, NaN stays NaN, zeros keep the sign of x. The bits of y are the same on every CPU. y may be the same array
/// as x.
void round_to_fixed_point(ThreadPool& pool, const FixedPoint& format, std::int64_t n,
                          const float* x, float* y);

/// The same with floor(x 2^fraction_bits) instead of rounding to nearest.
void floor_to_fixed_point(ThreadPool& pool, const FixedPoint& format, std::int64_t n,
                          const float* x, float* y);

}  // namespace hone::kernels
