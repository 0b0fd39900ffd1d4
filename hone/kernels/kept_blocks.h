#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace hone::kernels {

/// The number of nonzero blocks of a weight, which pruning kept. Blocks at its edges may be smaller.
struct KeptBlocks {
  std::int64_t kept = 0;
  std::int64_t all = 0;

  double share() const {
    return static_cast<double>(kept) / static_cast<double>(std::max<std::int64_t>(1, all));
  }
  /// Returns whether kept blocks are at most this share of all blocks, rounded up to whole blocks as in pruning.
  bool within(double most) const {
    return static_cast<double>(kept) <= std::ceil(most * static_cast<double>(all));
  }
};

}  // namespace hone::kernels
