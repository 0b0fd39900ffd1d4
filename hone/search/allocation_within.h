#pragma once

#include <cstdint>
#include <vector>

#include "hone/search/allocation_merge.h"

/// The least damage within several budgets at once, where there are too many allocations that are each best in some way.
namespace hone {

struct WithinBudgets {
  std::vector<std::uint8_t> options = {};  ///< of each group; none: none was found
  std::int64_t cost = 0;
  double damage = 0;
  /// No choice within the budgets does less damage; infinite: there is none.
  double bound = 0;
};

/// Group by group as the front of several costs, with two bounds: what an allocation of the first groups comes to at least follows from
/// multipliers of the costs (Everett, "Generalized Lagrange multiplier method", 1963), those that give the largest bound; those that come
/// to no less than what was found before are left out, and of the others the `width` of the least bound stay. Where none of these had to
/// go the answer is exact, and the bound is its damage.
WithinBudgets allocation_within(const std::vector<std::vector<GroupChoice>>& groups,
                                std::int64_t most, const OtherCosts& most_others,
                                std::size_t width);

}  // namespace hone
