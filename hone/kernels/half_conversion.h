#pragma once

#include <cstdint>

#include "hone/base/thread_pool.h"

/// Conversion between float and the 16-bit formats bfloat16 (1-8-7) and IEEE binary16 (1-5-10), as
/// bit patterns.
///
/// To 16 bits: nearest, ties to even; values too large become infinity, small ones binary16 subnormals or zero. NaN
/// becomes a quiet NaN of the same sign. From 16 bits: exact. The bits are the same on every CPU.
namespace hone::kernels {

enum class Half : std::uint8_t { bfloat16, float16 };

void float_to_bfloat16(ThreadPool& pool, std::int64_t n, const float* x, std::uint16_t* y);
void bfloat16_to_float(ThreadPool& pool, std::int64_t n, const std::uint16_t* x, float* y);

void float_to_float16(ThreadPool& pool, std::int64_t n, const float* x, std::uint16_t* y);
void float16_to_float(ThreadPool& pool, std::int64_t n, const std::uint16_t* x, float* y);

/// The same on the calling thread.
void half_to_float(Half half, std::int64_t n, const std::uint16_t* x, float* y);

/// Returns whether none of the n little-endian numbers at `bytes` is infinite or NaN.
bool all_finite(ThreadPool& pool, Half half, std::int64_t n, const std::uint8_t* bytes);

}  // namespace hone::kernels
