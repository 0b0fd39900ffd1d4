#include "hone/search/allocation.h"

#include <gtest/gtest.h>

#include <deque>

#include "hone/base/error.h"
#include "hone/base/json.h"
#include "hone/base/random.h"
#include "hone/search/sampler.h"
#include "tests/search/allocation_problems.h"
#include "tests/support/test_data.h"

namespace hone {
namespace {

using namespace hone::testing;

TEST(Allocation, IsTheFrontOfAllAllocations) {
  RandomSequence random(1, 0);
  for (int round = 0; round < 300; ++round) {
    const Layers layers = random_layers(random, 5, 6);
    const AllocationFront front = allocation_front({.layers = layers});
    EXPECT_EQ(points_of(front), brute_force(layers)) << round;
    EXPECT_EQ(front.cost_error, 0);
    expect_choices_add_up(layers, front);
  }
}

TEST(Allocation, IsTheFrontOfEightLayersOfSixOptions) {
  RandomSequence random(2, 0);
  Layers layers(8, std::vector<AllocationOption>(6));
  for (auto& options : layers)
    for (AllocationOption& option : options)
      option = {random.uniform(), static_cast<std::int64_t>(random.below(10'000))};
  const AllocationFront front = allocation_front({.layers = layers});
  EXPECT_EQ(points_of(front), brute_force(layers));
  expect_choices_add_up(layers, front);
}

TEST(Allocation, GivesTiedLayersTheSameOption) {
  RandomSequence random(4, 0);
  for (int round = 0; round < 100; ++round) {
    Layers layers(5, std::vector<AllocationOption>(3));
    Layers merged(3, std::vector<AllocationOption>(3));  // {0, 3}, {1}, {2, 4}
    const std::size_t group_of[] = {0, 1, 2, 0, 2};
    for (std::size_t i = 0; i < 5; ++i)
      for (std::size_t option = 0; option < 3; ++option) {
        const AllocationOption drawn = {random.uniform(),
                                        static_cast<std::int64_t>(random.below(100))};
        layers[i][option] = drawn;
        merged[group_of[i]][option].cost += drawn.cost;
        merged[group_of[i]][option].damage += drawn.damage;
      }
    const AllocationFront front = allocation_front({.layers = layers, .tied = {{4, 2}, {0, 3}}});
    EXPECT_EQ(points_of(front), brute_force(merged));
    for (std::size_t i = 0; i < front.points.size(); ++i) {
      const std::vector<std::size_t> chosen = choices_at(front, i);
      EXPECT_EQ(chosen[0], chosen[3]);
      EXPECT_EQ(chosen[2], chosen[4]);
      EXPECT_EQ(sum_of(layers, chosen).cost, front.points[i].cost);
    }
  }
}

// Converts to integers exactly: values have six decimals, latencies eight.
std::int64_t whole(const Json& value, double unit) {
  return std::llround(value.get<double>() * unit);
}

TEST(Allocation, FindsTheOptimaOfHawq) {
  const Json golden = read_json(test_data() / "vectors/search/hawq_ilp_golden.json");
  const std::vector<std::vector<std::size_t>> tied[] = {{{4, 6}, {9, 11}, {14, 16}},
                                                        {{0, 3}, {10, 13}, {23, 26}, {42, 45}}};
  int compared = 0;
  for (const auto& [key, optimum] : golden["optimum"].items()) {
    const std::size_t net = key.starts_with("resnet18") ? 0 : 1;
    const std::string kind = key.substr(9, key.rfind('_') - 9);
    const auto quarters = std::llround(4 * std::stod(key.substr(key.rfind('_') + 1)));
    Layers layers;
    std::int64_t all[] = {0, 0};
    for (std::size_t i = 0; i < golden["hutchinson_trace"][net].size(); ++i) {
      layers.emplace_back();
      for (const int bits : {4, 8}) {
        const std::string b = std::to_string(bits);
        const std::int64_t cost = kind == "size" ? whole(golden["params_M"][net][i], 1e6) * bits
                                  : kind == "bops"
                                      ? whole(golden["bops_M"][net][i], 1e6) * bits * bits
                                      : whole(golden["lat" + b][net][i], 1e8);
        layers.back().push_back({golden["hutchinson_trace"][net][i].get<double>() *
                                     golden["delta" + b][net][i].get<double>(),
                                 cost});
        all[bits == 8] += cost;
      }
    }
    const AllocationFront front = allocation_front({.layers = layers, .tied = tied[net]});
    const auto best = best_within(front, all[0] + quarters * (all[1] - all[0]) / 4);
    ASSERT_TRUE(best) << key;
    const double damage = optimum["perturbation"];
    EXPECT_NEAR(front.points[*best].damage, damage, 1e-12 * damage) << key;
    std::vector<int> bits;
    for (const std::size_t option : choices_at(front, *best)) bits.push_back(option == 0 ? 4 : 8);
    EXPECT_EQ(bits, optimum["bits"].get<std::vector<int>>()) << key;
    ++compared;
  }
  EXPECT_EQ(compared, 18);
}

// Returns the exact least damage at every cost, computed layer by layer.
std::map<std::int64_t, double> by_dynamic_programming(const Layers& layers) {
  std::vector<double> least = {0};
  for (const auto& options : layers) {
    std::int64_t most = 0;
    for (const AllocationOption& option : options) most = std::max(most, option.cost);
    std::vector<double> next(least.size() + static_cast<std::size_t>(most), HUGE_VAL);
    for (const AllocationOption& option : options) {
      double* to = next.data() + option.cost;
      for (const double damage : least) {
        *to = std::min(*to, damage + option.damage);
        ++to;
      }
    }
    least = std::move(next);
  }
  std::map<std::int64_t, double> front;
  double lowest = HUGE_VAL;
  for (std::size_t cost = 0; cost < least.size(); ++cost)
    if (least[cost] < lowest) front[static_cast<std::int64_t>(cost)] = lowest = least[cost];
  return front;
}

TEST(Allocation, OfFourHundredLayersIsThatOfADynamicProgram) {
  const int sizes[] = {1, 1, 1, 4, 4}, bits[] = {2, 3, 4, 6, 8, 16};
  RandomSequence random(5, 0);
  Layers layers(400);
  for (auto& options : layers) {
    const int size = sizes[random.below(5)];
    const double sensitivity = std::exp(1.5 * random.normal());
    for (const int b : bits) options.push_back({sensitivity * std::pow(4.0, -b), size * b});
  }
  const AllocationFront front = allocation_front({.layers = layers});
  EXPECT_EQ(points_of(front), by_dynamic_programming(layers));
  EXPECT_GT(front.points.size(), 5000u);
  for (const std::size_t point : {std::size_t{0}, front.points.size() / 2, front.points.size() - 1})
    EXPECT_EQ(sum_of(layers, choices_at(front, point)).damage, front.points[point].damage);
}

// 4 Σ sᵢ 4^(-bᵢ) + 0.02 Σ nᵢ bᵢ / Σ nᵢ for twenty layers with six widths. TPE does not reach this value in a hundred
// trials.
TEST(Allocation, SolvesAtOnceWhatASearchApproaches) {
  const int widths[] = {2, 3, 4, 6, 8, 16};
  RandomSequence random(1234, 0);
  Layers layers(20);
  std::int64_t elements = 0;
  for (auto& options : layers) {
    const double sensitivity = std::exp(1.5 * random.normal());
    const int size = random.below(5) < 3 ? 1 : 4;
    elements += size;
    for (const int width : widths)
      options.push_back({sensitivity * std::pow(4.0, -width), size * width});
  }
  const auto value = [&](double damage, std::int64_t cost) {
    return 4 * damage + 0.02 * static_cast<double>(cost) / static_cast<double>(elements);
  };
  double solved = HUGE_VAL, least = 0;
  for (const AllocationPoint& point : allocation_front({.layers = layers}).points)
    solved = std::min(solved, value(point.damage, point.cost));
  for (const auto& options : layers) {  // the value is a sum over layers
    double best = HUGE_VAL;
    for (const AllocationOption& option : options)
      best = std::min(best, value(option.damage, option.cost));
    least += best;
  }
  EXPECT_NEAR(solved, least, 1e-14);
  SearchSpace space;
  for (std::size_t i = 0; i < layers.size(); ++i)
    space.parameters.push_back({fmt::format("layer{:02}", i), integer_values(0, 5)});
  const auto sampler = tpe_sampler({.seed = 1});
  std::deque<Trial> trials;
  StudyView study;
  double best = HUGE_VAL;
  for (int i = 0; i < 100; ++i) {
    Trial& trial = trials.emplace_back(Trial{.number = i});
    suggest(*sampler, study, space, trial);
    std::vector<std::size_t> chosen;
    for (const TrialParameter& parameter : trial.parameters)
      chosen.push_back(static_cast<std::size_t>(parameter.value));
    const Sum sum = sum_of(layers, chosen);
    trial.values = {value(sum.damage, sum.cost)};
    trial.state = TrialState::complete;
    best = std::min(best, trial.values[0]);
    study.trials.push_back(&trial);
  }
  RecordProperty("gap_of_tpe_after_100_trials", fmt::format("{:.4f}", best - solved));
  EXPECT_GT(best, solved);
}

TEST(Allocation, SaysHowFarItIsFromExactWhereCostsAreCutIntoPieces) {
  RandomSequence random(6, 0);
  Layers layers(40);  // layers of unrelated sizes
  for (auto& options : layers) {
    const auto size = static_cast<std::int64_t>(1 + random.below(1 << 20));
    const double sensitivity = std::exp(random.normal());
    for (const int bits : {2, 3, 4, 6, 8, 16})
      options.push_back({sensitivity * std::pow(4.0, -bits), size * bits});
  }
  const AllocationFront exact = allocation_front({.layers = layers}),
                        coarse = allocation_front({.layers = layers}, {.max_points = 500});
  EXPECT_EQ(exact.cost_error, 0);
  ASSERT_GT(coarse.cost_error, 0);
  EXPECT_LE(coarse.cost_error, 40 * 2 * 40 * 16);  // pieces of at most 2⁻¹⁹ of the total
  expect_choices_add_up(layers, coarse);
  for (const AllocationPoint& point : exact.points) {
    const auto found = best_within(coarse, point.cost + coarse.cost_error);
    ASSERT_TRUE(found);
    EXPECT_LE(coarse.points[*found].damage, point.damage);
  }
  for (std::size_t i = 1; i < coarse.points.size(); ++i) {
    EXPECT_GT(coarse.points[i].cost, coarse.points[i - 1].cost);
    EXPECT_LT(coarse.points[i].damage, coarse.points[i - 1].damage);
  }
}

TEST(Allocation, TakesTheCheaperOptionOfTheLastLayerThatDiffers) {
  // Three allocations have damage 1 and cost 1, and one option is repeated.
  const Layers layers = {{{1, 0}, {0, 1}}, {{1, 0}, {0, 1}, {0, 1}}};
  const AllocationFront front = allocation_front({.layers = layers});
  ASSERT_EQ(front.points.size(), 3u);
  EXPECT_EQ(choices_at(front, 0), (std::vector<std::size_t>{0, 0}));
  EXPECT_EQ(choices_at(front, 1), (std::vector<std::size_t>{1, 0}));
  EXPECT_EQ(choices_at(front, 2), (std::vector<std::size_t>{1, 1}));
}

TEST(Allocation, GivesTheLeastDamageWithinABudget) {
  const AllocationFront front = allocation_front({.layers = {{{3, 2}, {1, 5}, {2, 9}}}});
  ASSERT_EQ(front.points.size(), 2u);  // the third has more damage and cost than the second
  EXPECT_EQ(best_within(front, 1), std::nullopt);
  EXPECT_EQ(best_within(front, 2), 0u);
  EXPECT_EQ(best_within(front, 4), 0u);
  EXPECT_EQ(best_within(front, 100), 1u);
  EXPECT_EQ(allocation_front({}).points.size(), 1u);  // nothing to choose, at no cost
}

std::string allocation_error(const AllocationProblem& problem) {
  try {
    allocation_front(problem);
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

TEST(Allocation, RefusesWhatHasNoAnswer) {
  const std::vector<AllocationOption> one = {{0, 1}}, two = {{0, 1}, {1, 0}};
  EXPECT_EQ(allocation_error({.layers = {one, {}}}),
            "layer 1 has 0 options to choose from; give 1 to 255");
  EXPECT_EQ(allocation_error({.layers = {std::vector<AllocationOption>(256)}}),
            "layer 0 has 256 options to choose from; give 1 to 255");
  EXPECT_EQ(allocation_error({.layers = {{{-1, 1}}}}),
            "layer 0: an option has damage -1; expected a number not below 0");
  EXPECT_EQ(allocation_error({.layers = {{{std::nan(""), 1}}}}),
            "layer 0: an option has damage nan; expected a number not below 0");
  EXPECT_EQ(allocation_error({.layers = {{{0, -1}}}}),
            "layer 0: an option costs -1; expected 0 to 2^60");
  EXPECT_EQ(allocation_error({.layers = {{{0, 0, {0, -2}}}}}),
            "layer 0: an option costs -2; expected 0 to 2^60");
  EXPECT_EQ(allocation_error({.layers = {{{0, std::int64_t{1} << 60}}, {{0, 1}}}}),
            "all layers together may cost more than 2^60; give costs in a larger unit");
  EXPECT_EQ(allocation_error({.layers = {one, two}, .tied = {{0, 1}}}),
            "layers 0 and 1 must take the same option, but have 1 and 2 options");
  EXPECT_EQ(allocation_error({.layers = {two, two}, .tied = {{0, 1}, {1}}}),
            "layer 1 is tied twice");
  EXPECT_EQ(allocation_error({.layers = {two}, .tied = {{0, 1}}}),
            "there is no layer 1 to be tied to others");
}

}  // namespace
}  // namespace hone
