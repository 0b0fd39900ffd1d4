#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "hone/search/allocation_merge.h"

/// Points that are not dominated in damage and several costs.
namespace hone {

/// Selects, from points with ascending first costs, those that are better in damage or another cost than every point
/// before.
class DominanceFront {
 public:
  /// `last_costs`: all values that the last of the other costs will have, in any order.
  explicit DominanceFront(std::vector<std::int64_t> last_costs);
  /// Returns whether a point is selected, and adds it. Points with equal first costs must ascend in the other costs,
  /// one after the other.
  bool take(const OtherCosts& costs, double damage);

 private:
  using Staircase = std::map<std::int64_t, double>;  // damage by the second-to-last cost: falling

  std::vector<std::int64_t> ranked_;  // the distinct last costs
  // A binary indexed tree over their ranks, where a few nodes cover any prefix (Fenwick, "A new data structure for
  // cumulative frequency tables", 1994).
  std::vector<Staircase> tree_;
};

/// The sum of a point of the groups before and a choice of the next group.
struct AllocationSum {
  std::int64_t cost = 0;
  OtherCosts other_costs = {};
  double damage = 0;
  AllocationOrigin origin = 0;
};

/// Returns all sums whose costs do not exceed the limits.
std::vector<AllocationSum> sums_within(const AllocationStates& before,
                                       const std::vector<GroupChoice>& choices, std::int64_t most,
                                       const OtherCosts& most_others);

/// Returns the undominated sums; the first among equals.
AllocationStates undominated(std::vector<AllocationSum> sums);

}  // namespace hone
