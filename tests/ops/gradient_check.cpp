#include "tests/ops/gradient_check.h"

#include <gtest/gtest.h>

#include <cmath>

#include "hone/autodiff/gradients.h"
#include "hone/base/random.h"
#include "hone/ir/verify.h"
#include "tests/support/evaluate.h"

// The differences are d = (8 (L(x+h) - L(x-h)) - (L(x+2h) - L(x-2h))) / (12 h), exact except for h^4/30 L^(5). L is
// summed in double from the fp32 outputs of the graph.
//
// Step and tolerance: Inputs are multiples of 2^-8 below 2 and h = 2^-4, so x +- 2h is exact in fp32 and only the
// outputs are rounded: each y_i by at most 2^-24 |y_i| for every node on its path (the cases have at most four). That
// moves d by at most 18/12 / h * 4 * 2^-24 sum |w_i y_i| < 6e-6 sum |w_i y_i|. The fifth derivatives of the functions
// here stay below 100, which gives h^4/30 * 100 sum |w_i| = 6e-5 sum |w_i|. Both bounds grow with the size of the case
// only. A wrong factor or a missing term shows at 1e-2 and above.
namespace hone::testing {
namespace {

constexpr double kStep = 0x1p-4;

// Values differ from 0 by more than 2h, because relu is not differentiable there.
float random_value(RandomSequence& random) {
  const double magnitude = 0.25 + 0x1p-8 * static_cast<double>(random.below(448));
  return static_cast<float>(random.below(2) == 0 ? magnitude : -magnitude);
}

Tensor random_tensor(const Type& type, RandomSequence& random) {
  Tensor tensor = Tensor::empty(type.dtype, resolve(type.shape, {}));
  for (float& value : tensor.values<float>()) value = random_value(random);
  return tensor;
}

NamedTensors random_inputs(const Graph& graph, const NamedTensors& fixed) {
  RandomSequence random(1, stream_of("inputs"));
  NamedTensors inputs = fixed;
  for (const Node* node : graph.of_kind(NodeKind::input)) {
    const Type& type = node->types()[0];
    if (type.dtype == DType::f32 && !fixed.contains(node->name()))
      inputs.emplace(node->name(), random_tensor(type, random));
  }
  return inputs;
}

NamedTensors random_weights(const Graph& graph) {
  RandomSequence random(1, stream_of("weights"));
  NamedTensors weights;
  for (const auto& [name, value] : graph.outputs())
    weights.emplace(name, random_tensor(value.type(), random));
  return weights;
}

// Calls body(w, y) for every element of every output.
template <typename Body>
void for_each_output(const Graph& graph, const NamedTensors& inputs, const NamedTensors& weights,
                     Body&& body) {
  for (const auto& [name, tensor] : run_graph(graph, inputs)) {
    const std::vector<float> w = elements_of(weights.at(name)), y = elements_of(tensor);
    for (std::size_t i = 0; i < y.size(); ++i)
      body(static_cast<double>(w[i]), static_cast<double>(y[i]));
  }
}

double loss(const Graph& graph, const NamedTensors& inputs, const NamedTensors& weights) {
  double sum = 0;
  for_each_output(graph, inputs, weights, [&](double w, double y) { sum += w * y; });
  return sum;
}

double tolerance(const Graph& graph, const NamedTensors& inputs, const NamedTensors& weights) {
  double sum = 0;
  for_each_output(graph, inputs, weights,
                  [&](double w, double y) { sum += std::fabs(w) * (6e-5 + 6e-6 * std::fabs(y)); });
  return sum;
}

double difference(const Graph& graph, const NamedTensors& inputs, const NamedTensors& weights,
                  float& element) {
  const float middle = element;
  const auto loss_at = [&](double steps) {
    element = static_cast<float>(static_cast<double>(middle) + steps * kStep);
    return loss(graph, inputs, weights);
  };
  const double near = loss_at(1) - loss_at(-1), far = loss_at(2) - loss_at(-2);
  element = middle;
  return (8 * near - far) / (12 * kStep);
}

// Adds the loss to the graph: the sum of sum_to(mul(y, w)) over the outputs.
Value add_loss(Graph& graph, const NamedTensors& weights, NamedTensors& inputs) {
  Value total;
  const auto outputs = graph.outputs();
  for (const auto& [name, value] : outputs) {
    const std::string weight = "weight." + name;
    inputs.emplace(weight, weights.at(name));
    const Value product = graph.add("mul", {value, graph.add_input(weight, value.type())});
    const Value sum = graph.add("sum_to", {product}, {{"shape", Shape{}}});
    total = total ? graph.add("add", {total, sum}) : sum;
  }
  return total;
}

// Returns the gradients of all inputs that are not fixed and that the loss depends on.
NamedTensors gradients(const GradientCase& gradient_case, NamedTensors inputs,
                       const NamedTensors& weights) {
  Graph graph = parse(gradient_case.text);
  std::vector<Value> targets;
  for (Node* node : graph.of_kind(NodeKind::input))
    if (!gradient_case.fixed.contains(node->name())) targets.push_back({node, 0});
  const Value total = add_loss(graph, weights, inputs);
  const std::vector<Value> values = add_gradients(graph, total, targets);
  for (std::size_t i = 0; i < targets.size(); ++i) {
    if (!values[i]) continue;
    EXPECT_EQ(to_string(values[i].type()), to_string(targets[i].type()));
    graph.set_output("d " + targets[i].node->name(), values[i]);
  }
  verify(graph);
  NamedTensors results;
  for (auto& [name, tensor] : run_graph(graph, inputs))
    if (name.starts_with("d ")) results.emplace(name.substr(2), tensor);
  return results;
}

}  // namespace

void check_gradient(const GradientCase& gradient_case) {
  SCOPED_TRACE(gradient_case.name);
  const bool surrogate = !gradient_case.differences_of.empty();
  const Graph graph = parse(surrogate ? gradient_case.differences_of : gradient_case.text);
  const NamedTensors inputs = random_inputs(graph, gradient_case.fixed);
  const NamedTensors weights = random_weights(graph);
  const double allowed = tolerance(graph, inputs, weights);
  const NamedTensors found = gradients(gradient_case, inputs, weights);
  for (const auto& [name, tensor] : inputs) {
    if (gradient_case.fixed.contains(name)) continue;
    const auto gradient = found.find(name);
    for (std::size_t i = 0; i < tensor.values<float>().size(); ++i) {
      const double expected = difference(graph, inputs, weights, tensor.values<float>()[i]);
      const double got = gradient == found.end() ? 0.0 : elements_of(gradient->second)[i];
      EXPECT_NEAR(got, expected, allowed) << "d loss / d " << name << ", element " << i;
    }
  }
}

}  // namespace hone::testing
