#pragma once

#include <cstdint>
#include <vector>

#include "hone/search/allocation.h"

/// Adds a group of layers to the front of those before it. Among equal sums, the one with the first choice is kept.
namespace hone {

/// An undominated option of a group; costs are relative to the minimum of the group.
struct GroupChoice {
  std::int64_t cost = 0;
  OtherCosts other_costs = {};
  double damage = 0;
  std::uint8_t option = 0;
};

/// Points of the first groups: costs rise, and without other costs damages fall.
struct AllocationStates {
  std::vector<std::int64_t> costs;
  std::vector<OtherCosts> other_costs;  ///< for problems with other budgets
  std::vector<double> damages;
  std::vector<AllocationOrigin> origins;  ///< indices into the states before
};

inline AllocationOrigin origin_of(std::uint8_t option, std::size_t before) {
  return static_cast<std::uint32_t>(before) << 8 | option;
}

/// Returns the states of no group: one point.
AllocationStates no_groups();

/// Returns the points that have less damage than all that cost no more; of those in one interval of width
/// 2^`piece_bits` of the cost axis only the last, so at most one point per cost. `choices` have rising costs and
/// falling damages.
AllocationStates merge(const AllocationStates& before, const std::vector<GroupChoice>& choices,
                       int piece_bits);

/// Does the same with intervals of 1, by a table of all costs: for small costs.
class CostTable {
 public:
  /// Returns whether the table is at most a few times larger than the number of sums.
  static bool suits(const AllocationStates& before, const std::vector<GroupChoice>& choices);
  AllocationStates merge(const AllocationStates& before, const std::vector<GroupChoice>& choices);

 private:
  std::vector<double> least_;  // by cost; infinite between merges
  std::vector<AllocationOrigin> from_;
  AllocationStates kept_;  // of the length of the table
};

}  // namespace hone
