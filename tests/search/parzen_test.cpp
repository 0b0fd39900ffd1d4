#include "hone/search/samplers/parzen.h"

#include <gtest/gtest.h>

#include <cmath>

#include "hone/base/random.h"
#include "hone/search/samplers/sampler_random.h"
#include "hone/search/samplers/tpe_split.h"
#include "hone/search/samplers/uniform_draw.h"
#include "hone/search/truncated_normal.h"
#include "tests/support/test_data.h"

namespace hone {
namespace {

const Json& parzen_vectors() {
  static const Json vectors = read_json(test_data() / "vectors/search/parzen_5.0.0.json");
  return vectors;
}

ParzenEstimator estimator_of(const Distribution& distribution, const std::vector<double>& internal,
                             TpeProfile profile, bool as_numpy = false) {
  Observations observed{.distribution = distribution, .as_numpy = as_numpy};
  for (const double value : internal)
    observed.places.push_back(distribution.logarithmic ? std::log(value) : value);
  observed.by_place = order_of(observed.places, as_numpy);
  return {{observed}, trial_weights(internal.size()), rules_of(profile), /*joint=*/false};
}

void expect_near(const std::vector<double>& got, const Json& expected, double tolerance,
                 std::string_view what) {
  ASSERT_EQ(got.size(), expected.size()) << what;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double value = expected[i].get<double>();
    EXPECT_NEAR(got[i], value, tolerance * std::max(1.0, std::abs(value))) << what << " " << i;
  }
}

TEST(Parzen, EqualsOptunas) {
  for (const Json& vector : parzen_vectors().at("cases")) {
    const std::string text = vector["dist"];
    const Distribution distribution = parse_optuna_distribution(text);
    SCOPED_TRACE(fmt::format("{} of {}", text, to_line(vector["obs"])));
    const ParzenEstimator estimator = estimator_of(
        distribution, vector["obs"].get<std::vector<double>>(), TpeProfile::optuna_5, true);
    expect_near(estimator.weights(), vector["weights"], 1e-12, "weight");
    const ParzenEstimator::Kernels& kernels = estimator.kernels()[0];
    if (vector.contains("mu")) expect_near(kernels.centres, vector["mu"], 1e-12, "centre");
    if (vector.contains("sigma")) expect_near(kernels.widths, vector["sigma"], 1e-12, "width");
    if (vector.contains("cat_weights"))
      for (std::size_t i = 0; i < kernels.shape_of.size(); ++i) {
        const std::size_t choices = distribution.choices.size();
        const double* row = &kernels.masses[kernels.shape_of[i] * choices];
        expect_near({row, row + choices}, vector["cat_weights"][i], 1e-12, "mass");
      }
    expect_near(estimator.log_density({vector["xs"].get<std::vector<double>>()}), vector["logpdf"],
                1e-12, "logpdf");
    SamplerRandom random(0, /*compatible=*/true);
    const auto points = estimator.sample(24, random.numbers_for(0, "", ""));
    expect_near(points[0], vector["sample_seed0_24"], 1e-8, "sample");
  }
}

TEST(Parzen, CountsAndWeighsGoodTrialsAsOptuna) {
  const Json& vectors = parzen_vectors();
  for (const auto& [count, good] : vectors["gamma"].items())
    EXPECT_EQ(good_count(std::stoul(count), 1, rules_of(TpeProfile::optuna_5)),
              good.get<std::size_t>());
  EXPECT_EQ(good_count(1000, 2, rules_of(TpeProfile::optuna_5)), 100u);
  EXPECT_EQ(good_count(1000, 2, rules_of(TpeProfile::optuna_4_9)), 25u);
  for (const auto& [count, weights] : vectors["weights"].items())
    expect_near(trial_weights(std::stoul(count)), weights, 1e-15, "weight");
}

// Sums directly over all kernels and parameters, by the formulas.
double plain_log_density(const ParzenEstimator& estimator, const std::vector<double>& point) {
  std::vector<double> logs;
  for (std::size_t i = 0; i < estimator.weights().size(); ++i) {
    double log = std::log(estimator.weights()[i]);
    for (std::size_t p = 0; p < point.size(); ++p) {
      const ParzenEstimator::Kernels& k = estimator.kernels()[p];
      if (k.distribution.kind == DistributionKind::categorical) {
        log += std::log(k.masses[k.shape_of[i] * k.distribution.choices.size() +
                                 static_cast<std::size_t>(point[p])]);
        continue;
      }
      const double centre = k.centres[i], width = k.widths[i];
      const double mass =
          log_normal_mass((k.scale.low - centre) / width, (k.scale.high - centre) / width);
      const double place = k.scale.to_scale(point[p]);
      const double z = (place - centre) / width;
      if (!k.discrete) {
        log += -z * z / 2 - kHalfLogTwoPi - std::log(width) - mass;
        continue;
      }
      const double half = *k.distribution.step / 2;
      log += log_normal_mass((k.scale.to_scale(point[p] - half) - centre) / width,
                             (k.scale.to_scale(point[p] + half) - centre) / width) -
             mass;
    }
    logs.push_back(log);
  }
  double high = logs[0], sum = 0;
  for (const double log : logs) high = std::max(high, log);
  for (const double log : logs) sum += std::exp(log - high);
  return high + std::log(sum);
}

// Sums of some hundred terms, each rounded a few times: within a thousand roundings.
TEST(Parzen, DensitiesAreThePlainSumOverKernels) {
  const std::vector<Distribution> distributions = {
      real_values(-5, 5),         real_values(1e-5, 0.1, {}, true),
      real_values(0, 0.5, 0.1),   integer_values(1, 64, 1, true),
      choice_of({"a", "b", "c"}), integer_values(0, 9)};
  RandomSequence random(3, 0);
  const UniformNumbers numbers = [&] { return random.uniform(); };
  for (const std::size_t parameters : {1u, 2u, 6u})
    for (std::size_t first = 0; first + parameters <= distributions.size(); ++first) {
      std::vector<Observations> observations;
      std::vector<std::vector<double>> points(parameters);
      for (std::size_t p = 0; p < parameters; ++p) {
        const Distribution& distribution = distributions[first + p];
        Observations observed{.distribution = distribution};
        for (int i = 0; i < 300; ++i) {
          const double value = draw_uniformly(distribution, numbers);
          observed.places.push_back(distribution.logarithmic ? std::log(value) : value);
          if (i < 20) points[p].push_back(draw_uniformly(distribution, numbers));
        }
        observed.by_place = order_of(observed.places, false);
        observations.push_back(observed);
      }
      const ParzenEstimator estimator(observations, trial_weights(300),
                                      rules_of(TpeProfile::optuna_5), true);
      const std::vector<double> logs = estimator.log_density(points);
      for (std::size_t i = 0; i < logs.size(); ++i) {
        std::vector<double> point;
        for (const auto& of_parameter : points) point.push_back(of_parameter[i]);
        const double plain = plain_log_density(estimator, point);
        EXPECT_NEAR(logs[i], plain, 1000 * 2.3e-16 * std::max(1.0, std::abs(plain)));
      }
    }
}

TEST(Parzen, SortsEqualOnesAsTheyCameUnlessAsNumpy) {
  std::vector<double> places;
  for (int i = 0; i < 100; ++i) places.push_back(i * 7 % 5);
  for (const bool as_numpy : {false, true}) {
    const std::vector<std::uint32_t> order = order_of(places, as_numpy);
    bool is_stable = true;
    for (std::size_t i = 1; i < order.size(); ++i) {
      EXPECT_LE(places[order[i - 1]], places[order[i]]);
      if (places[order[i - 1]] == places[order[i]]) is_stable &= order[i - 1] < order[i];
    }
    EXPECT_EQ(is_stable, !as_numpy);
  }
}

}  // namespace
}  // namespace hone
