#pragma once

#include <cstdint>

#include "hone/base/thread_pool.h"

/// Sums of magnitudes, with the same bits on every CPU and for any number of threads.
namespace hone::kernels {

/// Element i of a piece (see `piece_elements`) is added to lane i % kSumLanes, in double; then lanes are added in pairs
/// i and i + 8, i and i + 4, …, then pieces in order. So the mean of equal magnitudes is exact.
inline constexpr std::int64_t kSumLanes = 16;

struct Magnitudes {
  double sum = 0;
  std::int64_t count = 0;

  /// Returns 0 if `count` is 0.
  double mean() const { return count == 0 ? 0 : sum / static_cast<double>(count); }
};

/// Returns sum and number of the finite |x| above `threshold`; of all finite ones for a negative threshold.
Magnitudes magnitudes_above(ThreadPool& pool, float threshold, std::int64_t n, const float* x);

}  // namespace hone::kernels
