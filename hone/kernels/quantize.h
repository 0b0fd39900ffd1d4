#pragma once

#include <cstdint>

#include "hone/base/thread_pool.h"
#include "hone/kernels/mxint_element.h"

/// Quantizes floats to MXINT8: one byte per element and one scale per group.
namespace hone::kernels {

/// Quantizes x (count) to codes (count), two's complement, and scales (a byte per `group` elements; the last group may
/// be shorter).
///
/// The scale E is the exponent field of the largest magnitude of the group, and m = x 2^(133 - E), rounded to nearest,
/// ties to even, within -127 to 127. A group with NaN or an infinity has the scale 255 and zeros. Like mase-cuda,
/// `mase` first rounds x to bfloat16, with subnormal values flushed to zero. The error of the two roundings is up to
/// 3/4 of a step, and values too large for bfloat16 are treated as infinity.
///
/// Results have the same bits on every CPU and for any number of threads. One thread quantizes a whole group.
void quantize_mxint8(ThreadPool& pool, std::int64_t count, std::int64_t group, MxintDialect dialect,
                     const float* x, std::uint8_t* codes, std::uint8_t* scales);

}  // namespace hone::kernels
