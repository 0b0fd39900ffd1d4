#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

/// Chooses an option per layer where options have a cost and a damage, and both add up (a multiple-choice knapsack).
/// Works on numbers only: a cost may be bits, operations or microseconds.
///
///     const AllocationFront front = allocation_front({.layers = options});
///     if (const auto best = best_within(front, budget)) const auto chosen = choices_at(front, *best);
namespace hone {

/// Additional bounded costs besides the first, each in its own unit.
using OtherCosts = std::array<std::int64_t, 2>;

struct AllocationOption {
  double damage = 0;            ///< finite, at least 0
  std::int64_t cost = 0;        ///< at least 0
  OtherCosts other_costs = {};  ///< at least 0
};

struct AllocationProblem {
  std::vector<std::vector<AllocationOption>> layers;  ///< at most 255 options each
  /// Lists of layers that must take the same option, by its number.
  std::vector<std::vector<std::size_t>> tied = {};
  /// Limits of the sums of other costs, of the first kind, or of both; kinds without a limit are ignored.
  std::vector<std::int64_t> other_budgets = {};
  /// Limit of the sum of first costs, if known: the cost at which an approximate front should be most accurate.
  std::optional<std::int64_t> budget = {};
};

/// At most 2²⁴ - 1 each.
struct AllocationLimits {
  /// Above this number of points the cost axis is divided into intervals of 2⁻²⁰ to 2⁻¹⁹ of the sum of the most
  /// expensive options, and only the point of least damage in each interval is kept.
  std::size_t max_points = 1'000'000;
  /// With other budgets: maximum number of points that are not dominated in damage and all costs. Above it, the front
  /// is solved only for some costs, and each step keeps this many allocations of the first layers, those with the
  /// lowest bounds.
  std::size_t most_points_of_many = 40'000;
};

struct AllocationPoint {
  std::int64_t cost = 0;    ///< sum over layers
  double damage = 0;        ///< sum over layers, added in the order of the groups
  std::uint32_t state = 0;  ///< its index in the last `origins`
  double bound = 0;         ///< least possible damage up to this cost; `damage` if optimal
};

/// How a point was composed when a group of layers was added: the option of the group (the low 8 bits), and the index
/// of the point of the groups before.
using AllocationOrigin = std::uint32_t;

/// All choices that are not dominated in cost and damage. Costs rise, damages fall.
struct AllocationFront {
  std::vector<AllocationPoint> points;
  /// For each allocation there is a point with no more damage whose cost exceeds it by at most this. 0: the front is
  /// exact.
  std::int64_t cost_error = 0;
  /// Number of costs that the front was solved for. 0: all.
  std::size_t solved_costs = 0;
  std::vector<std::vector<std::size_t>>
      groups;  ///< layers that take the same option, ordered by the first of each
  /// For each group: origins of the front of the groups up to it.
  std::vector<std::vector<AllocationOrigin>> origins;
};

/// Returns the exact front, computed by combining the front of the first layers with the options of each next one
/// (Nemhauser and Ullmann, "Discrete dynamic programming and capital allocation", 1969), unless it grows beyond
/// `max_points`. Among allocations with equal cost and damage, it keeps the one whose last differing group takes its
/// cheaper option, and among equal options the first.
///
/// With other budgets, returns the front of the allocations within them; without points if there are none. If it
/// outgrows `most_points_of_many`, it is solved for costs spread over it, more densely below the budget, and for the
/// budget itself, each with a proven bound (hone/search/allocation_within.h).
///
/// Throws `UserError` for layers without options, tied layers with different numbers of options, layers that are tied
/// twice, and numbers out of range.
AllocationFront allocation_front(const AllocationProblem& problem,
                                 const AllocationLimits& limits = {});

/// Returns the point of least damage within the budget; none if all cost more.
std::optional<std::size_t> best_within(const AllocationFront& front, std::int64_t budget);

/// Returns the option of each layer at a point.
std::vector<std::size_t> choices_at(const AllocationFront& front, std::size_t point);

}  // namespace hone
