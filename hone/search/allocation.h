#pragma once

#include <cstdint>
#include <optional>
#include <vector>

/// Which option each layer takes where options cost something and do damage, and both add up (a multiple-choice knapsack). It knows
/// numbers alone: a cost may be bits, operations or microseconds.
///
///     const AllocationFront front = allocation_front({.layers = options});
///     if (const auto best = best_within(front, budget)) const auto chosen = choices_at(front, *best);
namespace hone {

/// What a layer may take.
struct AllocationOption {
  double damage = 0;             ///< finite, not below 0
  std::int64_t cost = 0;         ///< not below 0
  std::int64_t second_cost = 0;  ///< the same, in a unit of its own
};

struct AllocationProblem {
  std::vector<std::vector<AllocationOption>> layers;  ///< at most 255 options each
  /// Lists of layers that take the same option, by its number.
  std::vector<std::vector<std::size_t>> tied = {};
  /// What all second costs together may be. None: they are not looked at.
  std::optional<std::int64_t> second_budget = {};
};

/// At most 2²⁴ - 1 each.
struct AllocationLimits {
  /// Above so many points the cost axis is cut into pieces of 2⁻²⁰ to 2⁻¹⁹ of what the dearest options cost together, and of each piece
  /// the point of the least damage stays.
  std::size_t most_points = 1'000'000;
  /// With a second budget: points that no other one is as good as in damage and both costs; above so many there is no exact answer.
  std::size_t most_points_of_two = 200'000;
};

struct AllocationPoint {
  std::int64_t cost = 0;    ///< of all layers
  double damage = 0;        ///< the sum over layers, added up in the order of the groups
  std::uint32_t state = 0;  ///< its place in the last `origins`
};

/// Where a point came from, when a group of layers was added: the option of these (the low 8 bits), and the number of the point of the
/// groups before.
using AllocationOrigin = std::uint32_t;

/// All choices that no other one is as good as in both, cost and damage. Costs rise, damages fall.
struct AllocationFront {
  std::vector<AllocationPoint> points;
  /// For each allocation there is a point that does no more damage and costs no more than this above it. 0: the front is exact.
  std::int64_t cost_error = 0;
  std::vector<std::vector<std::size_t>>
      groups;  ///< layers that take the same option, by the first of each
  /// Of each group: of the front of it and those before.
  std::vector<std::vector<AllocationOrigin>> origins;
};

/// The whole front, exactly, by the sum of the first layers' front with each next one's options (Nemhauser and Ullmann, "Discrete
/// dynamic programming and capital allocation", 1969), unless it grows beyond `most_points`. Of allocations that are equal in both
/// the one stays of which the last group that differs takes its cheaper option, of options that are equal in both the first.
///
/// Throws `UserError` for layers without options, tied ones with different numbers of them, layers that are tied twice, numbers out
/// of range, a second budget that nothing meets (naming the least), and one whose front outgrows `most_points_of_two`.
AllocationFront allocation_front(const AllocationProblem& problem,
                                 const AllocationLimits& limits = {});

/// The point of the least damage that costs no more. None: all cost more.
std::optional<std::size_t> best_within(const AllocationFront& front, std::int64_t budget);

/// The option of each layer at a point.
std::vector<std::size_t> choices_at(const AllocationFront& front, std::size_t point);

}  // namespace hone
