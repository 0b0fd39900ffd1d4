#pragma once

#include <cstdint>

#include "hone/base/thread_pool.h"

/// Rounding to floating-point numbers with few bits.
namespace hone::kernels {

/// The magnitudes of a small floating-point format: multiples of 2^(e - mantissa_bits) between 2^e
/// and 2^(e + 1) for every e >= min_exponent, and of 2^(min_exponent - mantissa_bits) below.
///
///     {3, -6, 448}            // E4M3 of the OCP formats
///     {10, -14, 65504, true}  // IEEE binary16
struct Minifloat {
  int mantissa_bits = 0;  ///< after the leading one, 0 to 23
  int min_exponent = 0;   ///< of the smallest normal number
  float highest = 0;      ///< the largest magnitude; one of the multiples above
  /// Magnitudes that round beyond `highest` become infinity instead of `highest`.
  bool infinite = false;
};

/// Returns the nearest number of the format, ties to an even multiple of the step (for 0 mantissa bits: up). NaN stays
/// NaN, infinities saturate unless the format has them, zeros keep the sign of x. Exact for all parameters, subnormal
/// floats included.
float round_scalar(const Minifloat& format, float x);

/// Returns whether `MinifloatRounder` (minifloat-inl.h) computes the same as `round_scalar`: at most 22 mantissa bits,
/// min_exponent >= -126, and a highest binade for which a float exists whose last place is a step of that binade
/// (exponent <= 104 + mantissa_bits).
bool vectorizable(const Minifloat& format);

/// Computes y = round_scalar(x), in vectors if the format is vectorizable. The bits of y are the same on every CPU. y
/// may be the same array as x.
void round_to_minifloat(ThreadPool& pool, const Minifloat& format, std::int64_t n, const float* x,
                        float* y);

/// Rounds x to bfloat16, the upper 16 bits of a float, to nearest, ties to even. Values too large become infinity, NaN
/// stays NaN. y may be the same array as x.
void round_to_bfloat16(ThreadPool& pool, std::int64_t n, const float* x, float* y);

}  // namespace hone::kernels
