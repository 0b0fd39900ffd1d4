#pragma once

#include <cstdint>

#include "hone/base/thread_pool.h"

/// Rounding to powers of two.
namespace hone::kernels {

/// Zero and the powers of two from 2^min_exponent to 2^max_exponent, of either sign;
/// -126 <= min_exponent <= max_exponent <= 127.
struct PowerGrid {
  int min_exponent = -126;
  int max_exponent = 127;
};

/// Returns sign(x) 2^round(log2|x|). There are no ties, since the boundaries sqrt(2) 2^k are not floats. Returns zero
/// if the exponent is below min_exponent, 2^max_exponent if it is above max_exponent. NaN stays NaN, infinities
/// saturate, zeros keep the sign of x. Exact for subnormal floats, too.
float round_to_power(const PowerGrid& grid, float x);

/// Computes y = round_to_power(x), in vectors. The bits of y are the same on every CPU. y may be the same array as x.
void round_to_powers(ThreadPool& pool, const PowerGrid& grid, std::int64_t n, const float* x,
                     float* y);

}  // namespace hone::kernels
