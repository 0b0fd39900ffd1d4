#pragma once

#include <cstdint>
#include <vector>

#include "hone/search/allocation_merge.h"

/// Minimizes the damage within several budgets at once, when there are too many undominated allocations.
namespace hone {

struct WithinBudgets {
  std::vector<std::uint8_t> options = {};  ///< of each group; empty if nothing was found
  std::int64_t cost = 0;
  double damage = 0;
  /// Lower bound of the damage within the budgets; infinite: no choice meets them.
  double bound = 0;
};

/// Extends allocations group by group, as the front of several costs does, with two kinds of bounds. Lagrange
/// multipliers of the costs (Everett, "Generalized Lagrange multiplier method", 1963), chosen to maximize the bound,
/// give the least damage that an allocation of the first groups can lead to. Allocations that cannot improve on the
/// best known one are discarded, and of the others the `width` with the lowest bounds are kept. If this drops none of
/// them, the result is exact, and the bound equals its damage.
WithinBudgets allocation_within(const std::vector<std::vector<GroupChoice>>& groups,
                                std::int64_t most, const OtherCosts& most_others,
                                std::size_t width);

}  // namespace hone
