#pragma once

#include <bit>

#include "hone/cuda/source/convolution_call.cuh"

namespace hone::cuda {

/// Returns the constants for kernels to divide numbers below 2^31 by `by`, which is at least 1 and below 2^31. The
/// factor is 2^shift / by, rounded up: its error, times such a number, stays below 2^shift.
inline Divisor divisor_of(std::int64_t by) {
  const auto divisor = static_cast<std::uint64_t>(by);
  const auto shift = static_cast<std::uint32_t>(31 + std::bit_width(divisor - 1));
  const std::uint64_t power = std::uint64_t{1} << shift;
  return {static_cast<std::int32_t>(by),
          static_cast<std::uint32_t>((power + divisor - 1) / divisor), shift};
}

}  // namespace hone::cuda
