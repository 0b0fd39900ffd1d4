#include "hone/ir/initial_value.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "hone/base/random.h"
#include "hone/ops/list.h"

namespace hone {
namespace {

struct Layer {
  OpTable ops = builtin_ops();
  Graph graph{ops};
  Layer() {
    const auto add = [&](const char* name, Shape shape, ParameterRole role) {
      graph.add_parameter(name, {DType::f32, std::move(shape)}, role, /*trainable=*/true);
    };
    add("weight", {200, 50}, ParameterRole::weight);
    add("other", {200, 50}, ParameterRole::weight);
    add("bias", {3}, ParameterRole::bias);
    add("gain", {3}, ParameterRole::gain);
    add("mask", {3}, ParameterRole::mask);
    add("scale", {}, ParameterRole::format_state);
    add("table", {3}, ParameterRole::buffer);
  }
};

std::vector<float> values_of(const ParameterStore& parameters, std::string_view name) {
  const auto values = parameters.at(name).values<float>();
  return {values.begin(), values.end()};
}

TEST(InitialParameters, FollowFromTheirRoles) {
  const ParameterStore parameters = initial_parameters(Layer().graph, 1);
  EXPECT_EQ(values_of(parameters, "bias"), (std::vector<float>{0, 0, 0}));
  EXPECT_EQ(values_of(parameters, "gain"), (std::vector<float>{1, 1, 1}));
  EXPECT_EQ(values_of(parameters, "mask"), (std::vector<float>{1, 1, 1}));
  EXPECT_FALSE(parameters.contains("scale"));
  EXPECT_FALSE(parameters.contains("table"));
}

// For 10,000 normal samples, the mean lies within 5 standard deviations / 100 of its expectation, and the variance
// within 5 sqrt(2) / 100.
TEST(InitialParameters, DrawWeightsWithTwoOverTheirColumnsForVariance) {
  const std::vector<float> weight = values_of(initial_parameters(Layer().graph, 1), "weight");
  const double variance = 2.0 / 50, count = static_cast<double>(weight.size());
  const double mean = std::accumulate(weight.begin(), weight.end(), 0.0) / count;
  const double square =
      std::inner_product(weight.begin(), weight.end(), weight.begin(), 0.0) / count;
  EXPECT_NEAR(mean, 0, 0.05 * std::sqrt(variance));
  EXPECT_NEAR(square, variance, 0.071 * variance);
}

TEST(InitialValue, IsTheSameByAnyNumberOfThreads) {
  OpTable ops = builtin_ops();
  Graph graph(ops);
  graph.add_parameter("weight", {DType::f32, {Dim(300), Dim(201)}}, ParameterRole::weight, true);
  const Node& weight = *graph.find("weight");
  for (const int threads : {1, 3}) {
    ThreadPool pool(threads);
    const Tensor tensor = initial_value(weight, 0.02, 7, pool);
    RandomSequence random(7, stream_of("weight"));
    for (const float value : tensor.values<float>())
      ASSERT_EQ(value, static_cast<float>(random.normal() * 0.02));
  }
}

TEST(InitialParameters, AreAFunctionOfSeedAndName) {
  const Layer layer;
  const ParameterStore one = initial_parameters(layer.graph, 1),
                       two = initial_parameters(layer.graph, 2);
  EXPECT_EQ(values_of(one, "weight"), values_of(initial_parameters(layer.graph, 1), "weight"));
  EXPECT_NE(values_of(one, "weight"), values_of(two, "weight"));
  EXPECT_NE(values_of(one, "weight"), values_of(one, "other"));
}

}  // namespace
}  // namespace hone
