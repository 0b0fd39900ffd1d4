#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "hone/search/allocation.h"

/// How a group of layers is added to the front of those before it. Of sums that are equal the one stays whose choice stands first.
namespace hone {

/// An option of a group that no other one of it is as good as, without what the cheapest one costs.
struct GroupChoice {
  std::int64_t cost = 0, second_cost = 0;
  double damage = 0;
  std::uint8_t option = 0;
};

/// Points of the first groups: costs rise, and without second costs damages fall.
struct AllocationStates {
  std::vector<std::int64_t> costs;
  std::vector<std::int64_t> second_costs;  ///< of problems with a second budget
  std::vector<double> damages;
  std::vector<AllocationOrigin> origins;  ///< in the states before
};

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

/// Keeps the points of second costs up to `most_second` than which no other one is as good in damage and both costs.
AllocationStates merge_of_two(const AllocationStates& before,
                              const std::vector<GroupChoice>& choices, std::int64_t most_second);

/// Of points whose costs rise: which are better in damage or second cost than each of those before.
class SecondFront {
 public:
  bool take(std::int64_t second_cost, double damage);

 private:
  std::map<std::int64_t, double> least_;  // damage by second cost: falling
};

}  // namespace hone
