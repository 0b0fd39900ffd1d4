#pragma once

#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "hone/base/random.h"
#include "hone/search/allocation.h"

/// Brute-force allocation, to check the solver.
namespace hone::testing {

using Layers = std::vector<std::vector<AllocationOption>>;

/// Total costs and damage of one allocation.
struct Sum {
  std::int64_t cost = 0;
  OtherCosts other_costs = {};
  double damage = 0;
};

inline Sum operator+(const Sum& sum, const AllocationOption& option) {
  const OtherCosts &a = sum.other_costs, &b = option.other_costs;
  return {sum.cost + option.cost, {a[0] + b[0], a[1] + b[1]}, sum.damage + option.damage};
}

using Budgets = std::vector<std::int64_t>;  // budgets of the other costs

inline bool is_within(const Sum& sum, const Budgets& budgets) {
  for (std::size_t k = 0; k < budgets.size(); ++k)
    if (sum.other_costs[k] > budgets[k]) return false;
  return true;
}

// Calls visit(sum) for every combination of options.
template <typename Visit>
void each_allocation(const Layers& layers, const Visit& visit, std::size_t at = 0, Sum sum = {}) {
  if (at == layers.size()) return visit(sum);
  for (const AllocationOption& option : layers[at])
    each_allocation(layers, visit, at + 1, sum + option);
}

// Returns the front over all allocations.
inline std::map<std::int64_t, double> brute_force(const Layers& layers,
                                                  const Budgets& others = {}) {
  std::map<std::int64_t, double> least;
  each_allocation(layers, [&](const Sum& sum) {
    if (!is_within(sum, others)) return;
    const auto [found, added] = least.emplace(sum.cost, sum.damage);
    if (!added) found->second = std::min(found->second, sum.damage);
  });
  std::map<std::int64_t, double> front;
  for (const auto& [cost, damage] : least)
    if (front.empty() || damage < front.rbegin()->second) front.emplace(cost, damage);
  return front;
}

inline std::map<std::int64_t, double> points_of(const AllocationFront& front) {
  std::map<std::int64_t, double> points;
  for (const AllocationPoint& point : front.points) points.emplace(point.cost, point.damage);
  EXPECT_EQ(points.size(), front.points.size());
  return points;
}

inline Sum sum_of(const Layers& layers, const std::vector<std::size_t>& chosen) {
  Sum sum;
  for (std::size_t i = 0; i < layers.size(); ++i) sum = sum + layers[i][chosen[i]];
  return sum;
}

// Small integers with many ties, or larger ones.
inline Layers random_layers(RandomSequence& random, std::size_t most_layers,
                            std::size_t most_options) {
  Layers layers(1 + random.below(most_layers));
  const bool coarse = random.below(2) == 0;
  for (auto& options : layers) {
    options.resize(1 + random.below(most_options));
    const auto cost = [&] { return static_cast<std::int64_t>(random.below(coarse ? 6 : 1000)); };
    for (AllocationOption& option : options) {
      option.damage = coarse ? static_cast<double>(random.below(5)) : random.uniform();
      option.cost = cost();
      option.other_costs = {cost(), cost()};
    }
  }
  return layers;
}

inline void expect_choices_add_up(const Layers& layers, const AllocationFront& front) {
  for (std::size_t i = 0; i < front.points.size(); ++i) {
    const Sum sum = sum_of(layers, choices_at(front, i));
    EXPECT_EQ(sum.cost, front.points[i].cost);
    EXPECT_EQ(sum.damage, front.points[i].damage);
  }
}

}  // namespace hone::testing
