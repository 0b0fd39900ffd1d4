#pragma once

#include <cstdint>

#include "hone/base/thread_pool.h"
#include "hone/kernels/mxint_element.h"

/// Floats to MXINT8, a byte for each element and a scale for each group of them.
namespace hone::kernels {

/// x (count) to codes (count), two's complement, and scales (a byte for each `group` elements, the last may be shorter).
///
/// The scale E is the exponent field of the largest magnitude of the group, and m = x 2^(133 - E) to nearest, ties to even, within
/// -127 … 127. A group with a NaN or an infinity has the scale 255 and zeros. `mase` rounds x to bfloat16 before that, and its
/// subnormal values to zero, as mase-cuda does: the two roundings err by up to 3/4 of a step, and what bfloat16 cannot hold
/// counts as an infinity.
///
/// The same bits on every processor and for any number of threads. A group is the work of one thread.
void quantize_mxint8(ThreadPool& pool, std::int64_t count, std::int64_t group, MxintDialect dialect,
                     const float* x, std::uint8_t* codes, std::uint8_t* scales);

}  // namespace hone::kernels
