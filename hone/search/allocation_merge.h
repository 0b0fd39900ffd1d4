#pragma once

#include <cstdint>
#include <vector>

#include "hone/search/allocation.h"

/// How a group of layers is added to the front of those before it. Of sums that are equal the one stays whose choice stands first.
namespace hone {

/// An option of a group that no other one of it is as good as; costs are those above the least of the group.
struct GroupChoice {
  std::int64_t cost = 0;
  OtherCosts other_costs = {};
  double damage = 0;
  std::uint8_t option = 0;
};

/// Points of the first groups: costs rise, and without other costs damages fall.
struct AllocationStates {
  std::vector<std::int64_t> costs;
  std::vector<OtherCosts> other_costs;  ///< of problems with other budgets
  std::vector<double> damages;
  std::vector<AllocationOrigin> origins;  ///< in the states before
};

inline AllocationOrigin origin_of(std::uint8_t option, std::size_t before) {
  return static_cast<std::uint32_t>(before) << 8 | option;
}

/// The states of no group: one point.
AllocationStates no_groups();

/// Keeps the points that have less damage than all that cost no more; of those in one piece of 2^`piece_bits` of the cost axis the last
/// one, so at most one point of a cost. `choices` by rising costs and falling damages.
AllocationStates merge(const AllocationStates& before, const std::vector<GroupChoice>& choices,
                       int piece_bits);

/// The same with pieces of 1, by a table of all costs: for costs that are small numbers.
class CostTable {
 public:
  /// Whether the table of these sums is no larger than a few times their number.
  static bool suits(const AllocationStates& before, const std::vector<GroupChoice>& choices);
  AllocationStates merge(const AllocationStates& before, const std::vector<GroupChoice>& choices);

 private:
  std::vector<double> least_;  // by cost; infinite between two merges
  std::vector<AllocationOrigin> from_;
  AllocationStates kept_;  // as long as the table
};

}  // namespace hone
