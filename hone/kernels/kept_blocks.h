#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace hone::kernels {

/// Blocks of a weight that are not zero: what pruning kept. Blocks at its edges may be smaller.
struct KeptBlocks {
  std::int64_t kept = 0;
  std::int64_t all = 0;

  double share() const {
    return static_cast<double>(kept) / static_cast<double>(std::max<std::int64_t>(1, all));
  }
  /// Whether they are at most this share of all, rounded up to whole blocks, as pruning keeps whole ones.
  bool within(double most) const {
    return static_cast<double>(kept) <= std::ceil(most * static_cast<double>(all));
  }
};

}  // namespace hone::kernels
