#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "hone/search/allocation_merge.h"

/// Points of several costs that no other one is as good as in damage and all of them.
namespace hone {

/// Of points whose first costs rise: which are better in damage or another cost than each of those before.
class DominanceFront {
 public:
  /// `last_costs`: all that the last of the other costs will be, in any order.
  explicit DominanceFront(std::vector<std::int64_t> last_costs);
  /// Whether a point is; it counts as one before from then on. Of points whose first costs are equal the others must rise too, one after
  /// the other.
  bool take(const OtherCosts& costs, double damage);

 private:
  using Staircase =
      std::map<std::int64_t, double>;  // damage by the other cost before the last: falling

  std::vector<std::int64_t> ranked_;  // the last costs, each once
  // A binary indexed tree over their ranks: a prefix of them is the union of a few (Fenwick, "A new data structure for cumulative
  // frequency tables", 1994).
  std::vector<Staircase> tree_;
};

/// A sum of a point of the groups before and a choice of the next one.
struct AllocationSum {
  std::int64_t cost = 0;
  OtherCosts other_costs = {};
  double damage = 0;
  AllocationOrigin origin = 0;
};

/// All sums whose costs are not above these.
std::vector<AllocationSum> sums_within(const AllocationStates& before,
                                       const std::vector<GroupChoice>& choices, std::int64_t most,
                                       const OtherCosts& most_others);

/// Keeps those that no other one is as good as; of equal ones that which stands first.
AllocationStates undominated(std::vector<AllocationSum> sums);

}  // namespace hone
