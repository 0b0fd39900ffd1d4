#include "hone/search/allocation.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <tuple>

#include "hone/base/error.h"
#include "hone/search/allocation_dominance.h"
#include "hone/search/allocation_merge.h"
#include "hone/search/allocation_within.h"

namespace hone {
namespace {

using Group = std::vector<std::size_t>;

constexpr std::int64_t kMostCost = std::int64_t{1} << 60;  // of all layers: sums cannot overflow

constexpr std::size_t kOthers = std::tuple_size_v<OtherCosts>;

void check_problem(const AllocationProblem& problem) {
  HONE_ASSERT(problem.other_budgets.size() <= kOthers, "{} other budgets",
              problem.other_budgets.size());
  std::array<std::int64_t, 1 + kOthers> most = {};
  for (std::size_t i = 0; i < problem.layers.size(); ++i) {
    const std::vector<AllocationOption>& options = problem.layers[i];
    user_check(!options.empty() && options.size() <= 255,
               "layer {} has {} options to choose from; give 1 to 255", i, options.size());
    std::array<std::int64_t, 1 + kOthers> dearest = {};
    for (const AllocationOption& option : options) {
      user_check(std::isfinite(option.damage) && option.damage >= 0,
                 "layer {}: an option has damage {}; expected a number not below 0", i,
                 option.damage);
      const std::int64_t costs[] = {option.cost, option.other_costs[0], option.other_costs[1]};
      for (std::size_t k = 0; k < std::size(costs); ++k) {
        user_check(costs[k] >= 0 && costs[k] <= kMostCost,
                   "layer {}: an option costs {}; expected 0 to 2^60", i, costs[k]);
        dearest[k] = std::max(dearest[k], costs[k]);
      }
    }
    for (std::size_t k = 0; k < most.size(); ++k) most[k] += dearest[k];
    user_check(std::ranges::max(most) <= kMostCost,
               "all layers together may cost more than 2^60; give costs in a larger unit");
  }
}

// Returns the groups, ordered by their first layers; a layer without ties is a group of its own.
std::vector<Group> groups_of(const AllocationProblem& problem) {
  std::vector<Group> groups(problem.layers.size());
  std::vector<bool> tied(problem.layers.size(), false);
  for (Group layers : problem.tied) {
    std::ranges::sort(layers);
    for (const std::size_t layer : layers) {
      user_check(layer < problem.layers.size(), "there is no layer {} to be tied to others", layer);
      user_check(!tied[layer], "layer {} is tied twice", layer);
      tied[layer] = true;
      user_check(problem.layers[layer].size() == problem.layers[layers.front()].size(),
                 "layers {} and {} must take the same option, but have {} and {} options",
                 layers.front(), layer, problem.layers[layers.front()].size(),
                 problem.layers[layer].size());
    }
    if (!layers.empty()) groups[layers.front()] = layers;
  }
  for (std::size_t layer = 0; layer < groups.size(); ++layer)
    if (!tied[layer]) groups[layer] = {layer};
  std::erase_if(groups, [](const Group& group) { return group.empty(); });
  return groups;
}

std::vector<AllocationOption> options_of(const AllocationProblem& problem, const Group& group) {
  std::vector<AllocationOption> sums(problem.layers[group.front()].size());
  for (const std::size_t layer : group)
    for (std::size_t i = 0; i < sums.size(); ++i) {
      sums[i].damage += problem.layers[layer][i].damage;
      sums[i].cost += problem.layers[layer][i].cost;
      for (std::size_t k = 0; k < kOthers; ++k)
        sums[i].other_costs[k] += problem.layers[layer][i].other_costs[k];
    }
  return sums;
}

// Returns the undominated options, the cheapest first.
std::vector<GroupChoice> choices_in(const std::vector<AllocationOption>& options) {
  std::vector<AllocationSum> all;
  for (std::size_t i = 0; i < options.size(); ++i)
    all.push_back({options[i].cost, options[i].other_costs, options[i].damage,
                   origin_of(static_cast<std::uint8_t>(i), 0)});
  const AllocationStates kept = undominated(std::move(all));
  std::vector<GroupChoice> choices;
  for (std::size_t i = 0; i < kept.costs.size(); ++i)
    choices.push_back({kept.costs[i], kept.other_costs[i], kept.damages[i],
                       static_cast<std::uint8_t>(kept.origins[i])});
  return choices;
}

// Returns the smallest or largest possible sum of other costs over all groups.
std::int64_t sum_over(const std::vector<std::vector<AllocationOption>>& groups, std::size_t kind,
                      bool most) {
  std::int64_t sum = 0;
  for (const std::vector<AllocationOption>& options : groups) {
    const auto [least, greatest] = std::ranges::minmax(
        options, {}, [&](const AllocationOption& option) { return option.other_costs[kind]; });
    sum += (most ? greatest : least).other_costs[kind];
  }
  return sum;
}

/// The choices of all groups. Costs are relative to the cheapest choice; first costs are in a unit that divides them
/// all.
struct PreparedGroups {
  std::vector<std::vector<GroupChoice>> choices;
  std::int64_t least_cost = 0, unit = 0;
  std::int64_t most_units = 0;  // above the least cost
  /// Limits of other costs above their minimum; 0, with costs of 0, for kinds that no budget restricts.
  OtherCosts most_others = {};
  bool bounded = false;

  std::int64_t cost_of(std::int64_t units) const { return least_cost + unit * units; }
};

// Makes other costs relative to the minimum of each group; sets them to 0 if no budget restricts them.
void bound_others(std::vector<std::vector<AllocationOption>>& groups,
                  const std::vector<std::int64_t>& budgets, PreparedGroups& all) {
  for (std::size_t k = 0; k < kOthers; ++k) {
    const bool bounded = k < budgets.size() && sum_over(groups, k, /*most=*/true) > budgets[k];
    if (bounded) all.most_others[k] = budgets[k] - sum_over(groups, k, /*most=*/false);
    all.bounded = all.bounded || bounded;
    for (std::vector<AllocationOption>& options : groups) {
      std::int64_t least = options.front().other_costs[k];
      for (const AllocationOption& option : options) least = std::min(least, option.other_costs[k]);
      for (AllocationOption& option : options)
        option.other_costs[k] = bounded ? option.other_costs[k] - least : 0;
    }
  }
}

PreparedGroups prepare(const AllocationProblem& problem, const std::vector<Group>& groups) {
  PreparedGroups all;
  std::vector<std::vector<AllocationOption>> options;
  for (const Group& group : groups) options.push_back(options_of(problem, group));
  bound_others(options, problem.other_budgets, all);
  for (const std::vector<AllocationOption>& of_group : options) {
    std::vector<GroupChoice> choices = choices_in(of_group);
    const std::int64_t least = choices.front().cost;
    all.least_cost += least;
    for (GroupChoice& choice : choices) {
      choice.cost -= least;
      all.unit = std::gcd(all.unit, choice.cost);
    }
    all.choices.push_back(std::move(choices));
  }
  all.unit = std::max<std::int64_t>(1, all.unit);
  for (std::vector<GroupChoice>& choices : all.choices) {
    for (GroupChoice& choice : choices) choice.cost /= all.unit;
    all.most_units += choices.back().cost;
  }
  return all;
}

// Returns the width of intervals, as a power of two, that divides the cost axis up to `most` into at most 2²⁰
// intervals.
int piece_bits_up_to(std::int64_t most) {
  int bits = 0;
  while ((most >> bits) > (std::int64_t{1} << 20)) ++bits;
  return bits;
}

AllocationStates front_of_one(const PreparedGroups& groups, const AllocationLimits& limits,
                              AllocationFront& front) {
  AllocationStates states = no_groups();
  CostTable table;
  int bits = 0;
  for (const std::vector<GroupChoice>& choices : groups.choices) {
    AllocationStates next = bits == 0 && CostTable::suits(states, choices)
                                ? table.merge(states, choices)
                                : merge(states, choices, bits);
    if (next.costs.size() > limits.max_points && bits == 0) {
      bits = piece_bits_up_to(groups.most_units);
      next = merge(states, choices, bits);
    }
    // Merging the points of an interval costs less than the interval's width.
    if (bits > 0) front.cost_error += groups.unit << bits;
    states = std::move(next);
    front.origins.push_back(std::move(states.origins));
  }
  return states;
}

// Returns nothing if there are more points than the limit.
std::optional<AllocationStates> front_of_many(const PreparedGroups& groups,
                                              const AllocationLimits& limits,
                                              AllocationFront& front) {
  AllocationStates states = no_groups();
  for (const std::vector<GroupChoice>& choices : groups.choices) {
    states = undominated(sums_within(states, choices, groups.most_units, groups.most_others));
    if (states.costs.size() > limits.most_points_of_many) return std::nullopt;
    front.origins.push_back(std::move(states.origins));
  }
  return states;
}

// Filters by the first cost, since a point may have been kept for another cost.
void take_points(const PreparedGroups& groups, const AllocationStates& states,
                 AllocationFront& front) {
  for (std::size_t i = 0; i < states.costs.size(); ++i) {
    const AllocationPoint point{groups.cost_of(states.costs[i]), states.damages[i],
                                static_cast<std::uint32_t>(i), states.damages[i]};
    if (!front.points.empty() && point.damage >= front.points.back().damage) continue;
    if (!front.points.empty() && point.cost == front.points.back().cost) front.points.pop_back();
    front.points.push_back(point);
  }
}

// Returns costs in units above the minimum, ascending: spread over the whole front, and more densely below the budget.
std::set<std::int64_t> costs_to_solve(std::int64_t budget, std::int64_t most) {
  constexpr std::int64_t kEach = 12;
  std::set<std::int64_t> costs = {budget, most};
  for (std::int64_t i = 0; i < kEach; ++i) {
    costs.insert(most / (kEach - 1) * i);
    costs.insert(budget / 2 + budget / 2 / (kEach - 1) * i);
  }
  return costs;
}

// Appends a point after those of lower costs. A result without less damage than the last point adds none, but its
// bound applies to the last point.
void add_point(const PreparedGroups& groups, const WithinBudgets& found, AllocationFront& front) {
  double bound = found.bound;
  if (!front.points.empty() &&
      (found.options.empty() || found.damage >= front.points.back().damage)) {
    front.points.back().bound = std::min(front.points.back().bound, bound);
    return;
  }
  if (found.options.empty()) return;
  const std::int64_t cost = groups.cost_of(found.cost);
  while (!front.points.empty() && front.points.back().cost >= cost) {
    bound = std::min(bound, front.points.back().bound);
    front.points.pop_back();
  }
  const std::size_t number = front.origins.front().size();
  for (std::size_t i = 0; i < front.origins.size(); ++i)
    front.origins[i].push_back(origin_of(found.options[i], number));
  front.points.push_back({cost, found.damage, static_cast<std::uint32_t>(number), bound});
}

// Solves for selected costs; only the budget's gets a wide search.
void solve_costs(const PreparedGroups& groups, std::optional<std::int64_t> budget,
                 const AllocationLimits& limits, AllocationFront& front) {
  constexpr std::size_t kShort = 1000;
  const std::int64_t most = groups.most_units,
                     wanted = budget ? std::clamp<std::int64_t>(
                                           (*budget - groups.least_cost) / groups.unit, 0, most)
                                     : most;
  front.origins.assign(groups.choices.size(), {});
  for (const std::int64_t cost : costs_to_solve(wanted, most)) {
    const std::size_t width =
        cost == wanted ? limits.most_points_of_many : std::min(kShort, limits.most_points_of_many);
    add_point(groups, allocation_within(groups.choices, cost, groups.most_others, width), front);
    ++front.solved_costs;
  }
}

}  // namespace

AllocationFront allocation_front(const AllocationProblem& problem, const AllocationLimits& limits) {
  HONE_ASSERT(std::max(limits.max_points, limits.most_points_of_many) < (1U << 24),
              "{} points do not fit into origins", limits.max_points);
  check_problem(problem);
  AllocationFront front{.points = {}, .groups = groups_of(problem), .origins = {}};
  const PreparedGroups groups = prepare(problem, front.groups);
  if (!groups.bounded) {
    take_points(groups, front_of_one(groups, limits, front), front);
  } else if (const auto states = front_of_many(groups, limits, front)) {
    take_points(groups, *states, front);
  } else {
    solve_costs(groups, problem.budget, limits, front);
  }
  return front;
}

std::optional<std::size_t> best_within(const AllocationFront& front, std::int64_t budget) {
  const auto above = std::ranges::upper_bound(front.points, budget, {}, &AllocationPoint::cost);
  if (above == front.points.begin()) return std::nullopt;
  return static_cast<std::size_t>(above - front.points.begin()) - 1;
}

std::vector<std::size_t> choices_at(const AllocationFront& front, std::size_t point) {
  std::size_t layers = 0;
  for (const Group& group : front.groups) layers += group.size();
  std::vector<std::size_t> chosen(layers);
  std::size_t state = front.points.at(point).state;
  for (std::size_t i = front.groups.size(); i-- > 0;) {
    const AllocationOrigin origin = front.origins[i][state];
    for (const std::size_t layer : front.groups[i]) chosen[layer] = origin & 0xFF;
    state = origin >> 8;
  }
  return chosen;
}

}  // namespace hone
