#include "hone/search/allocation_within.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/search/allocation_problems.h"

namespace hone {
namespace {

using namespace hone::testing;

// Returns one or two budgets of other costs, near the costs of the first options.
Budgets random_budgets(RandomSequence& random, const Layers& layers) {
  const Sum some = sum_of(layers, std::vector<std::size_t>(layers.size()));
  Budgets budgets;
  for (std::size_t k = 0; k <= random.below(2); ++k)
    budgets.push_back(static_cast<std::int64_t>(
        random.below(static_cast<std::uint64_t>(3 * some.other_costs[k] / 2 + 2))));
  return budgets;
}

void expect_within(const Layers& layers, const AllocationFront& front, const Budgets& budgets) {
  for (std::size_t i = 0; i < front.points.size(); ++i)
    EXPECT_TRUE(is_within(sum_of(layers, choices_at(front, i)), budgets));
}

TEST(AllocationWithinBudgets, StaysWithinOneOtherBudgetOrTwo) {
  RandomSequence random(3, 0);
  int met = 0, unmet = 0;
  for (int round = 0; round < 500; ++round) {
    const Layers layers = random_layers(random, 5, 5);
    const Budgets budgets = random_budgets(random, layers);
    const AllocationFront front = allocation_front({.layers = layers, .other_budgets = budgets});
    const std::map<std::int64_t, double> truth = brute_force(layers, budgets);
    EXPECT_EQ(points_of(front), truth) << round;
    EXPECT_EQ(front.solved_costs, 0u);
    expect_choices_add_up(layers, front);
    expect_within(layers, front, budgets);
    ++(truth.empty() ? unmet : met);
  }
  EXPECT_GT(met, 200);
  EXPECT_GT(unmet, 50);
}

// More points are non-dominated than are kept.
TEST(AllocationWithinBudgets, BoundsWhatItDoesNotSolveExactly) {
  RandomSequence random(8, 0);
  int solved = 0, exact = 0, off = 0;
  for (int round = 0; round < 600; ++round) {
    const Layers layers = random_layers(random, 6, 5);
    const Budgets budgets = random_budgets(random, layers);
    const std::map<std::int64_t, double> truth = brute_force(layers, budgets);
    if (truth.empty()) continue;
    const std::int64_t budget =
        truth.begin()->first + (truth.rbegin()->first - truth.begin()->first) / 2;
    const AllocationFront front =
        allocation_front({.layers = layers, .other_budgets = budgets, .budget = budget},
                         {.most_points_of_many = round % 2 == 0 ? 1UL : 8UL});
    if (front.solved_costs == 0) continue;
    ++solved;
    expect_choices_add_up(layers, front);
    expect_within(layers, front, budgets);
    for (const AllocationPoint& point : front.points) {
      const double least = std::prev(truth.upper_bound(point.cost))->second;
      EXPECT_LE(point.bound, least * (1 + 1e-9)) << round;
      EXPECT_GE(point.damage, least) << round;
      EXPECT_LE(point.bound, point.damage);
    }
    const auto best = best_within(front, budget);
    if (!best) continue;
    const double least = std::prev(truth.upper_bound(budget))->second;
    EXPECT_LE(front.points[*best].bound, least * (1 + 1e-9)) << round;
    ++(front.points[*best].damage == least ? exact : off);
  }
  EXPECT_GT(solved, 100);
  EXPECT_GT(exact, solved / 2);
  EXPECT_GT(off, 0);  // otherwise the test could not tell a bound from the exact value
}

/// 26 layers with the shapes of two kinds of blocks: bits, bytes and times of a dozen formats. Times are arbitrary.
struct Transformer {
  Layers layers;
  Sum least, most;

  explicit Transformer(RandomSequence& random) {
    const int sizes[] = {1, 1, 1, 1, 4, 4}, bits[] = {2, 3, 4, 5, 6, 8, 9, 10, 12, 14, 16, 32};
    for (int i = 0; i < 26; ++i) {
      const int size = sizes[i % 6];
      const double sensitivity = std::exp(1.5 * random.normal());
      layers.emplace_back();
      Sum cheapest{.cost = 1 << 30, .other_costs = {1 << 30, 1 << 30}, .damage = 0}, dearest;
      for (const int b : bits) {
        const AllocationOption option{
            sensitivity * std::pow(4.0, -b) * std::exp(0.3 * random.normal()),
            128 * size * b,
            {130 * size * b, static_cast<std::int64_t>(size * 1000 * (1 + random.uniform()))}};
        layers.back().push_back(option);
        cheapest.cost = std::min(cheapest.cost, option.cost);
        dearest.cost = std::max(dearest.cost, option.cost);
        for (std::size_t k = 0; k < 2; ++k) {
          cheapest.other_costs[k] = std::min(cheapest.other_costs[k], option.other_costs[k]);
          dearest.other_costs[k] = std::max(dearest.other_costs[k], option.other_costs[k]);
        }
      }
      least = least + AllocationOption{0, cheapest.cost, cheapest.other_costs};
      most = most + AllocationOption{0, dearest.cost, dearest.other_costs};
    }
  }
  std::int64_t share(std::int64_t from, std::int64_t to, double share) const {
    return from + std::llround(share * static_cast<double>(to - from));
  }
};

TEST(AllocationWithinBudgets, OfADozenFormatsWithinThreeBudgetsIsThatOfTheWholeFrontAtTheBudget) {
  RandomSequence random(9, 0);
  for (int round = 0; round < 3; ++round) {
    Transformer model(random);
    model.layers.resize(12);  // small enough for the whole front
    AllocationProblem problem{.layers = model.layers};
    problem.budget = model.share(model.least.cost, model.most.cost, 0.1);
    problem.other_budgets = {
        model.share(model.least.other_costs[0], model.most.other_costs[0], 0.12),
        model.share(model.least.other_costs[1], model.most.other_costs[1], 0.12)};
    const AllocationFront whole = allocation_front(problem, {.most_points_of_many = 1 << 20}),
                          some = allocation_front(problem, {.most_points_of_many = 100});
    ASSERT_EQ(whole.solved_costs, 0u);
    ASSERT_GT(some.solved_costs, 0u);
    const auto truth = best_within(whole, *problem.budget),
               found = best_within(some, *problem.budget);
    ASSERT_TRUE(truth && found);
    EXPECT_LE(some.points[*found].bound, whole.points[*truth].damage * (1 + 1e-9));
    EXPECT_LE(some.points[*found].damage, whole.points[*truth].damage * 1.02);
  }
}

TEST(AllocationWithinBudgets, OfTwentySixLayersKeepsThreeBudgetsWithinAPercentOfItsBound) {
  RandomSequence random(10, 0);
  const Transformer model(random);
  AllocationProblem problem{.layers = model.layers};
  problem.budget = model.share(model.least.cost, model.most.cost, 0.1);
  problem.other_budgets = {model.share(model.least.other_costs[0], model.most.other_costs[0], 0.12),
                           model.share(model.least.other_costs[1], model.most.other_costs[1], 0.3)};
  const AllocationFront front = allocation_front(problem, {.most_points_of_many = 2000});
  ASSERT_GT(front.solved_costs, 0u);
  expect_within(model.layers, front, problem.other_budgets);
  const auto best = best_within(front, *problem.budget);
  ASSERT_TRUE(best);
  EXPECT_GT(front.points[*best].bound, 0.99 * front.points[*best].damage);
}

}  // namespace
}  // namespace hone
