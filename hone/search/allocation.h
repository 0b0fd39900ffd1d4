#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

/// Which option each layer takes where options cost something and do damage, and both add up (a multiple-choice knapsack). It knows
/// numbers alone: a cost may be bits, operations or microseconds.
///
///     const AllocationFront front = allocation_front({.layers = options});
///     if (const auto best = best_within(front, budget)) const auto chosen = choices_at(front, *best);
namespace hone {

/// What is bounded beside the first cost, each in a unit of its own.
using OtherCosts = std::array<std::int64_t, 2>;

/// What a layer may take.
struct AllocationOption {
  double damage = 0;            ///< finite, not below 0
  std::int64_t cost = 0;        ///< not below 0
  OtherCosts other_costs = {};  ///< the same
};

struct AllocationProblem {
  std::vector<std::vector<AllocationOption>> layers;  ///< at most 255 options each
  /// Lists of layers that take the same option, by its number.
  std::vector<std::vector<std::size_t>> tied = {};
  /// What all other costs of a kind together may be, of the first of them, or both; those beyond are not looked at.
  std::vector<std::int64_t> other_budgets = {};
  /// What all costs together may be, as far as that is known: the cost at which a front that is too large is to be best.
  std::optional<std::int64_t> budget = {};
};

/// At most 2²⁴ - 1 each.
struct AllocationLimits {
  /// Above so many points the cost axis is cut into pieces of 2⁻²⁰ to 2⁻¹⁹ of what the dearest options cost together, and of each piece
  /// the point of the least damage stays.
  std::size_t most_points = 1'000'000;
  /// With other budgets: points that no other one is as good as in damage and all costs. Above so many the front is solved for some
  /// costs alone, and of the first layers' allocations so many of the least bound are gone on with.
  std::size_t most_points_of_many = 40'000;
};

struct AllocationPoint {
  std::int64_t cost = 0;    ///< of all layers
  double damage = 0;        ///< the sum over layers, added up in the order of the groups
  std::uint32_t state = 0;  ///< its place in the last `origins`
  double bound = 0;  ///< whatever costs no more does at least this damage; `damage`: none does less
};

/// Where a point came from, when a group of layers was added: the option of these (the low 8 bits), and the number of the point of the
/// groups before.
using AllocationOrigin = std::uint32_t;

/// All choices that no other one is as good as in both, cost and damage. Costs rise, damages fall.
struct AllocationFront {
  std::vector<AllocationPoint> points;
  /// For each allocation there is a point that does no more damage and costs no more than this above it. 0: the front is exact.
  std::int64_t cost_error = 0;
  /// Of how many costs the points are. 0: of all.
  std::size_t solved_costs = 0;
  std::vector<std::vector<std::size_t>>
      groups;  ///< layers that take the same option, by the first of each
  /// Of each group: of the front of it and those before.
  std::vector<std::vector<AllocationOrigin>> origins;
};

/// The whole front, exactly, by the sum of the first layers' front with each next one's options (Nemhauser and Ullmann, "Discrete
/// dynamic programming and capital allocation", 1969), unless it grows beyond `most_points`. Of allocations that are equal in both
/// the one stays of which the last group that differs takes its cheaper option, of options that are equal in both the first.
///
/// With other budgets it is that of the allocations within them: without points where there are none. A front that outgrows
/// `most_points_of_many` is solved for costs that are spread over it and below the budget, and the budget itself, each with the bound
/// that was shown (hone/search/allocation_within.h).
///
/// Throws `UserError` for layers without options, tied ones with different numbers of them, layers that are tied twice, and numbers
/// out of range.
AllocationFront allocation_front(const AllocationProblem& problem,
                                 const AllocationLimits& limits = {});

/// The point of the least damage that costs no more. None: all cost more.
std::optional<std::size_t> best_within(const AllocationFront& front, std::int64_t budget);

/// The option of each layer at a point.
std::vector<std::size_t> choices_at(const AllocationFront& front, std::size_t point);

}  // namespace hone
