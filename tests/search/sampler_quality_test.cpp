#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <functional>
#include <limits>
#include <numbers>

#include "hone/base/random.h"
#include "hone/search/sampler.h"

namespace hone {
namespace {

constexpr double kBits[] = {2, 3, 4, 6, 8, 16};

struct QualityFunction {
  const char* name;
  SearchSpace space;
  std::function<double(const std::vector<double>& internal)> value;
};

SearchSpace spaced(const std::vector<Distribution>& distributions) {
  SearchSpace space;
  for (std::size_t i = 0; i < distributions.size(); ++i)
    space.parameters.push_back({fmt::format("p{:02}", i), distributions[i]});
  return space;
}

double sphere(const std::vector<double>& x) {
  double sum = 0;
  for (const double v : x) sum += v * v;
  return sum;
}

double rastrigin(const std::vector<double>& x) {
  double sum = 0;
  for (const double v : x) sum += v * v - 10 * std::cos(2 * std::numbers::pi * v) + 10;
  return sum;
}

double branin(const std::vector<double>& x) {
  constexpr double kPi = std::numbers::pi;
  const double bowl = x[1] - 5.1 / (4 * kPi * kPi) * x[0] * x[0] + 5 / kPi * x[0] - 6;
  return bowl * bowl + 10 * (1 - 1 / (8 * kPi)) * std::cos(x[0]) + 10;
}

double hartmann(const std::vector<double>& x) {
  constexpr double kHeights[] = {1, 1.2, 3, 3.2};
  constexpr double kSlopes[4][6] = {{10, 3, 17, 3.5, 1.7, 8},
                                    {0.05, 10, 17, 0.1, 8, 14},
                                    {3, 3.5, 1.7, 10, 17, 8},
                                    {17, 8, 0.05, 10, 0.1, 14}};
  constexpr double kPlaces[4][6] = {{0.1312, 0.1696, 0.5569, 0.0124, 0.8283, 0.5886},
                                    {0.2329, 0.4135, 0.8307, 0.3736, 0.1004, 0.9991},
                                    {0.2348, 0.1451, 0.3522, 0.2883, 0.3047, 0.6650},
                                    {0.4047, 0.8828, 0.8732, 0.5743, 0.1091, 0.0381}};
  double value = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    double sum = 0;
    for (std::size_t k = 0; k < 6; ++k)
      sum += kSlopes[i][k] * (x[k] - kPlaces[i][k]) * (x[k] - kPlaces[i][k]);
    value -= kHeights[i] * std::exp(-sum);
  }
  return value;
}

std::vector<QualityFunction> quality_functions() {
  std::vector<double> sensitivity, size;
  RandomSequence random(1234, 0);
  for (int i = 0; i < 20; ++i) {
    sensitivity.push_back(std::exp(1.5 * random.normal()));
    size.push_back(random.below(5) < 3 ? 1 : 4);
  }
  // Bit widths of twenty layers. In both forms the internal value is the index of a width.
  const auto mixed_precision = [=](const std::vector<double>& indices) {
    double damage = 0, bits = 0, elements = 0;
    for (std::size_t i = 0; i < indices.size(); ++i) {
      const double width = kBits[static_cast<std::size_t>(indices[i])];
      damage += sensitivity[i] * std::pow(4.0, -width);
      bits += size[i] * width;
      elements += size[i];
    }
    return 4 * damage + 0.02 * bits / elements;
  };
  const std::vector<Json> widths(std::begin(kBits), std::end(kBits));
  return {
      {"sphere", spaced(std::vector(5, real_values(-5, 5))), sphere},
      {"rastrigin", spaced(std::vector(5, real_values(-5.12, 5.12))), rastrigin},
      {"branin", spaced({real_values(-5, 10), real_values(0, 15)}), branin},
      {"hartmann", spaced(std::vector(6, real_values(0, 1))), hartmann},
      {"choices", spaced(std::vector(20, choice_of(widths))), mixed_precision},
      {"indices", spaced(std::vector(20, integer_values(0, 5))), mixed_precision},
  };
}

// Returns the best values after 25, 50 and 100 trials.
std::array<double, 3> best_values(const QualityFunction& function, std::uint64_t seed,
                                  bool compatible) {
  const auto sampler = tpe_sampler({.seed = seed, .compatible = compatible});
  std::deque<Trial> trials;
  StudyView study;
  std::array<double, 3> result{};
  double best = std::numeric_limits<double>::infinity();
  for (int i = 1; i <= 100; ++i) {
    Trial trial{.number = i - 1};
    suggest(*sampler, study, function.space, trial);
    std::vector<double> values;
    for (const TrialParameter& parameter : trial.parameters) values.push_back(parameter.value);
    trial.values = {function.value(values)};
    trial.state = TrialState::complete;
    best = std::min(best, trial.values[0]);
    trials.push_back(std::move(trial));
    study.trials.push_back(&trials.back());
    if (i == 25 || i == 50 || i == 100) result[i == 25 ? 0 : i == 50 ? 1 : 2] = best;
  }
  return result;
}

struct RankTest {
  double p = 1;
  double first_is_less = 0.5;  // share of pairs; ties count half
};

// Mann and Whitney 1947, two-sided, by the normal approximation. There are too few ties here to change its variance.
RankTest rank_test(const std::vector<double>& a, const std::vector<double>& b) {
  double less = 0;
  for (const double x : a)
    for (const double y : b) less += x < y ? 1 : x == y ? 0.5 : 0;
  const auto n = static_cast<double>(a.size()), m = static_cast<double>(b.size());
  const double z = (less - n * m / 2) / std::sqrt(n * m * (n + m + 1) / 12);
  return {std::erfc(std::abs(z) / std::numbers::sqrt2), less / (n * m)};
}

TEST(RankTest, SeesAShiftAndNoneWhereThereIsNone) {
  std::vector<double> a, shifted;
  for (int i = 0; i < 100; ++i) {
    a.push_back(i * 37 % 101);
    shifted.push_back(a.back() + 30.5);
  }
  EXPECT_EQ(rank_test(a, a).p, 1);
  EXPECT_LT(rank_test(a, shifted).p, 1e-6);
  EXPECT_GT(rank_test(a, shifted).first_is_less, 0.7);
}

// With Optuna's random numbers the sampler makes Optuna's suggestions (OptunaTraces). Its own random numbers must do as
// well: p of each of eighteen comparisons is at least 0.0005, which a perfect sampler misses for one in a hundred sets
// of seeds. The first set was such a case (seeds 0 to 199, `indices` after 100 trials: ours better in 61% of pairs, p =
// 0.0001). For these 500 seeds it is 51%, p = 0.63, so that was chance.
TEST(LongTpe, FindsValuesAsGoodAsByOptunasRandomNumbers) {
  for (const QualityFunction& function : quality_functions()) {
    std::array<std::vector<double>, 3> ours, theirs;
    for (std::uint64_t seed = 1000; seed < 1500; ++seed)
      for (const bool compatible : {false, true}) {
        const std::array<double, 3> best = best_values(function, seed, compatible);
        for (std::size_t i = 0; i < 3; ++i) (compatible ? theirs : ours)[i].push_back(best[i]);
      }
    for (std::size_t i = 0; i < 3; ++i) {
      const RankTest test = rank_test(ours[i], theirs[i]);
      const std::string what = fmt::format("p = {:.4f}, ours is better in {:.1f}% of pairs", test.p,
                                           100 * test.first_is_less);
      RecordProperty(fmt::format("{}_{}", function.name, i == 0 ? 25 : i == 1 ? 50 : 100), what);
      EXPECT_GE(test.p, 0.0005) << function.name << " " << i << ": " << what;
    }
  }
}

}  // namespace
}  // namespace hone
