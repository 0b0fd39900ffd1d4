#include "hone/frontends/huggingface/activation.h"

#include <gtest/gtest.h>

#include <cmath>

#include "hone/autodiff/gradients.h"
#include "hone/frontends/huggingface/module_builder.h"
#include "hone/ir/verify.h"
#include "tests/support/evaluate.h"
#include "tests/support/tiny_model.h"

namespace hone {
namespace {

using testing::elements_of;

const std::vector<float> kInputs = {-200, -90, -20, -3, -1, -0.1f, 0, 0.1f, 1, 3, 20, 90, 200};

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double mish(double x) { return x * std::tanh(std::log1p(std::exp(x))); }
double gelu(double x) { return 0.5 * x * std::erfc(-x / std::sqrt(2)); }
double gelu_tanh(double x) {
  return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
}

/// The activation at `kInputs`, and its derivative.
struct Curve {
  std::vector<float> values, slopes;
};

Curve curve_of(const std::string& name) {
  const std::int64_t count = std::ssize(kInputs);
  ModuleBuilder builder(testing::builtin().ops);
  Graph& graph = builder.graph();
  const Value x = graph.add_parameter("x", {DType::f32, {Dim(count)}}, ParameterRole::weight,
                                      /*trainable=*/true);
  const Value y = builder.activation(x, "y", name);
  graph.set_output("y", y);
  const Value sum = graph.add("sum_to", {y}, {{"shape", Shape{}}}, "sum");
  graph.set_output("slope", add_gradients(graph, sum, {x})[0]);
  verify(graph);
  ParameterStore parameters;
  parameters.set("x", Tensor::of<float>({count}, kInputs));
  const NamedTensors outputs = testing::run_graph(graph, {}, parameters, testing::builtin());
  return {elements_of(outputs.at("y")), elements_of(outputs.at("slope"))};
}

TEST(Activation, IsWhatTransformersComputesByTheName) {
  const auto quick_gelu = [](double x) { return x * sigmoid(1.702 * x); };
  const auto silu = [](double x) { return x * sigmoid(x); };
  const std::pair<const char*, std::function<double(double)>> truths[] = {
      {"gelu", gelu},
      {"gelu_python", gelu},
      {"gelu_new", gelu_tanh},
      {"gelu_fast", gelu_tanh},
      {"gelu_accurate", gelu_tanh},
      {"gelu_pytorch_tanh", gelu_tanh},
      {"gelu_python_tanh", gelu_tanh},
      {"mish", mish},
      {"quick_gelu", quick_gelu},
      {"silu", silu},
      {"swish", silu},
      {"relu", [](double x) { return std::max(x, 0.0); }},
      {"tanh", [](double x) { return std::tanh(x); }}};
  EXPECT_EQ(activation_names().size(), std::size(truths));
  for (const auto& [name, truth] : truths) {
    const Curve curve = curve_of(name);
    for (std::size_t i = 0; i < kInputs.size(); ++i) {
      const double x = static_cast<double>(kInputs[i]), step = 1e-5;
      EXPECT_NEAR(curve.values[i], truth(x), 2e-6 * std::max(1.0, std::fabs(x))) << name << x;
      const bool smooth = x != 0 || std::string(name) != "relu";
      if (!smooth) continue;
      EXPECT_NEAR(curve.slopes[i], (truth(x + step) - truth(x - step)) / (2 * step), 1e-5)
          << name << x;
    }
  }
}

}  // namespace
}  // namespace hone
