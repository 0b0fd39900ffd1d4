#include "hone/search/allocation.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>

#include "hone/base/error.h"
#include "hone/base/text.h"
#include "hone/search/allocation_merge.h"

namespace hone {
namespace {

using Group = std::vector<std::size_t>;

constexpr std::int64_t kMostCost = std::int64_t{1}
                                   << 60;  // of all layers: sums stay far from the end

void check_problem(const AllocationProblem& problem) {
  std::int64_t most = 0, most_second = 0;
  for (std::size_t i = 0; i < problem.layers.size(); ++i) {
    const std::vector<AllocationOption>& options = problem.layers[i];
    user_check(!options.empty() && options.size() <= 255,
               "layer {} has {} options to choose from; give 1 to 255", i, options.size());
    std::int64_t dearest = 0, dearest_second = 0;
    for (const AllocationOption& option : options) {
      user_check(std::isfinite(option.damage) && option.damage >= 0,
                 "layer {}: an option does damage {}; expected a number not below 0", i,
                 option.damage);
      user_check(option.cost >= 0 && option.second_cost >= 0 && option.cost <= kMostCost &&
                     option.second_cost <= kMostCost,
                 "layer {}: an option costs {} and {}; expected 0 to 2^60", i, option.cost,
                 option.second_cost);
      dearest = std::max(dearest, option.cost);
      dearest_second = std::max(dearest_second, option.second_cost);
    }
    most += dearest;
    most_second += dearest_second;
    user_check(most <= kMostCost && most_second <= kMostCost,
               "all layers together may cost more than 2^60; give costs in a larger unit");
  }
}

// By their first layers; a layer that is tied to none is a group of its own.
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
                 "layers {} and {} are to take the same option, and have {} and {}", layers.front(),
                 layer, problem.layers[layers.front()].size(), problem.layers[layer].size());
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
      sums[i].second_cost += problem.layers[layer][i].second_cost;
    }
  return sums;
}

// Those that are worth a look, the cheapest first.
std::vector<GroupChoice> choices_in(const std::vector<AllocationOption>& options, bool two_costs) {
  std::vector<GroupChoice> sorted, kept;
  for (std::size_t i = 0; i < options.size(); ++i)
    sorted.push_back({options[i].cost, two_costs ? options[i].second_cost : 0, options[i].damage,
                      static_cast<std::uint8_t>(i)});
  std::ranges::stable_sort(sorted, {}, [](const GroupChoice& choice) {
    return std::tuple(choice.cost, choice.second_cost, choice.damage);
  });
  SecondFront front;
  for (const GroupChoice& choice : sorted)
    if (front.take(choice.second_cost, choice.damage)) kept.push_back(choice);
  return kept;
}

/// All groups' choices. Costs are those above the cheapest, in a unit that divides them all.
struct PreparedGroups {
  std::vector<std::vector<GroupChoice>> choices;
  std::int64_t least_cost = 0, unit = 0;
  std::int64_t most_units = 0;  // above the least cost

  std::int64_t cost_of(std::int64_t units) const { return least_cost + unit * units; }
};

PreparedGroups prepare(const AllocationProblem& problem, const std::vector<Group>& groups) {
  PreparedGroups all;
  for (const Group& group : groups) {
    std::vector<GroupChoice> choices =
        choices_in(options_of(problem, group), problem.second_budget.has_value());
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

// The piece of the cost axis, as a power of two, of which there are no more than 2²⁰ up to `most`.
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
    if (next.costs.size() > limits.most_points && bits == 0) {
      bits = piece_bits_up_to(groups.most_units);
      next = merge(states, choices, bits);
    }
    // What a merge gives up for the last of a piece costs less than a piece.
    if (bits > 0) front.cost_error += groups.unit << bits;
    states = std::move(next);
    front.origins.push_back(std::move(states.origins));
  }
  return states;
}

std::int64_t least_second(const std::vector<GroupChoice>& choices) {
  return std::ranges::min_element(choices, {}, &GroupChoice::second_cost)->second_cost;
}

AllocationStates front_of_two(const PreparedGroups& groups, std::int64_t budget,
                              const AllocationLimits& limits, AllocationFront& front) {
  std::int64_t least_left = 0;  // of the groups to come
  for (const auto& choices : groups.choices) least_left += least_second(choices);
  user_check(least_left <= budget, "the second budget of {} is met by nothing; the least is {}",
             budget, least_left);
  AllocationStates states = no_groups();
  for (const std::vector<GroupChoice>& choices : groups.choices) {
    least_left -= least_second(choices);
    states = merge_of_two(states, choices, budget - least_left);
    front.origins.push_back(std::move(states.origins));
    user_check(states.costs.size() <= limits.most_points_of_two,
               "two costs: more than {} allocations of the first {} layers are each best in some "
               "way, too many for an exact answer; give one budget alone, fewer options, or tie "
               "layers",
               grouped(static_cast<std::int64_t>(limits.most_points_of_two)), front.origins.size());
  }
  return states;
}

}  // namespace

AllocationFront allocation_front(const AllocationProblem& problem, const AllocationLimits& limits) {
  HONE_ASSERT(std::max(limits.most_points, limits.most_points_of_two) < (1U << 24),
              "{} points do not fit into origins", limits.most_points);
  check_problem(problem);
  AllocationFront front{.points = {}, .groups = groups_of(problem), .origins = {}};
  const PreparedGroups groups = prepare(problem, front.groups);
  const AllocationStates states = problem.second_budget
                                      ? front_of_two(groups, *problem.second_budget, limits, front)
                                      : front_of_one(groups, limits, front);
  // In two costs a point may be kept for the second alone.
  for (std::size_t i = 0; i < states.costs.size(); ++i) {
    const AllocationPoint point{groups.cost_of(states.costs[i]), states.damages[i],
                                static_cast<std::uint32_t>(i)};
    if (!front.points.empty() && point.damage >= front.points.back().damage) continue;
    if (!front.points.empty() && point.cost == front.points.back().cost) front.points.pop_back();
    front.points.push_back(point);
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
