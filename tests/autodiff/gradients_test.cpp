#include "hone/autodiff/gradients.h"

#include <gtest/gtest.h>

#include <cmath>

#include "hone/base/random.h"
#include "hone/ir/print.h"
#include "hone/ir/verify.h"
#include "tests/support/evaluate.h"
#include "tests/support/message.h"

namespace hone::testing {
namespace {

// Returns d loss / d name for the node or input `name`.
std::vector<float> gradient_of(std::string_view text, const std::string& name,
                               const NamedTensors& inputs) {
  Graph graph = parse(text);
  const Value target{graph.find(name), 0};
  const Value gradient = add_gradients(graph, graph.output("loss"), {target})[0];
  EXPECT_EQ(to_string(gradient.type()), to_string(target.type()));
  graph.set_output("gradient", gradient);
  verify(graph);
  return elements_of(run_graph(graph, inputs).at("gradient"));
}

// loss = x^2 + 3 x:  2 x + 3
TEST(Gradients, AddUpOverAllUsesOfAValue) {
  EXPECT_EQ(gradient_of(R"(%x = input : f32[]
%square = mul(%x, %x) : f32[]
%triple = scale(%x) {factor=3.0} : f32[]
%loss = add(%square, %triple) : f32[]
output loss = %loss)",
                        "x", {{"x", Tensor::scalar(5.0f)}}),
            (std::vector<float>{13}));
}

// loss = sum_ij (a_i + b_j):  2 for every a, 3 for every b, 6 for s
TEST(Gradients, UndoBroadcasting) {
  constexpr std::string_view text = R"(%a = input : f32[3, 1]
%b = input : f32[2]
%s = input : f32[]
%ab = add(%a, %b) : f32[3, 2]
%abs = add(%ab, %s) : f32[3, 2]
%loss = sum_to(%abs) {shape=[]} : f32[]
output loss = %loss)";
  const NamedTensors inputs = {{"a", Tensor::zeros(DType::f32, {3, 1})},
                               {"b", Tensor::zeros(DType::f32, {2})},
                               {"s", Tensor::scalar(0.0f)}};
  EXPECT_EQ(gradient_of(text, "a", inputs), (std::vector<float>{2, 2, 2}));
  EXPECT_EQ(gradient_of(text, "b", inputs), (std::vector<float>{3, 3}));
  EXPECT_EQ(gradient_of(text, "s", inputs), (std::vector<float>{6}));
}

TEST(Gradients, UndoBroadcastingOverASymbolicBatch) {
  EXPECT_EQ(gradient_of(R"(%x = input : f32[B, 2]
%bias = input : f32[2]
%y = add(%x, %bias) : f32[B, 2]
%loss = sum_to(%y) {shape=[]} : f32[]
output loss = %loss)",
                        "bias",
                        {{"x", Tensor::zeros(DType::f32, {7, 2})},
                         {"bias", Tensor::zeros(DType::f32, {2})}}),
            (std::vector<float>{7, 7}));
}

TEST(Gradients, ReachValuesInTheMiddleAndTheLossItself) {
  constexpr std::string_view text = R"(%x = input : f32[]
%y = scale(%x) {factor=2.0} : f32[]
%loss = mul(%y, %y) : f32[]
output loss = %loss)";
  const NamedTensors inputs = {{"x", Tensor::scalar(3.0f)}};
  EXPECT_EQ(gradient_of(text, "y", inputs), (std::vector<float>{12}));
  EXPECT_EQ(gradient_of(text, "x", inputs), (std::vector<float>{24}));
  EXPECT_EQ(gradient_of(text, "loss", inputs), (std::vector<float>{1}));
}

TEST(Gradients, AreEmptyForTargetsTheLossDoesNotDependOn) {
  Graph graph = parse(R"(%x = input : f32[]
%other = input : f32[]
%like = input : f32[]
%aside = relu(%other) : f32[]
%one = full(%like) {value=1.0, dtype="f32"} : f32[]
%loss = mul(%x, %one) : f32[]
output loss = %loss)");
  const auto target = [&](const char* name) { return Value{graph.find(name), 0}; };
  const std::vector<Value> gradients = add_gradients(
      graph, graph.output("loss"), {target("other"), target("x"), target("aside"), target("like")});
  ASSERT_EQ(gradients.size(), 4u);
  EXPECT_FALSE(gradients[0]);
  EXPECT_TRUE(gradients[1]);
  EXPECT_FALSE(gradients[2]);
  EXPECT_FALSE(gradients[3]);
}

TEST(Gradients, LeaveTheForwardNodesAsTheyWere) {
  Graph graph = parse(R"(%x = input : f32[]
%loss = tanh(%x) : f32[]
output loss = %loss)");
  const std::string before = to_string(graph);
  add_gradients(graph, graph.output("loss"), {{graph.find("x"), 0}});
  EXPECT_EQ(to_string(graph), R"(%x = input : f32[]
%loss = tanh(%x) : f32[]
%loss.gradient = full(%loss) {value=1.0, dtype="f32"} : f32[]
%loss.gradient.1 = tanh_gradient(%loss, %loss.gradient) : f32[]
output loss = %loss
)");
  EXPECT_NE(to_string(graph), before);
}

TEST(Gradients, NameAnOperationOnTheWayThatHasNone) {
  Graph graph = parse(R"(%x = input : f32[4]
%y = relu(%x) : f32[4]
%norm = global_norm(%y) : f32[]
output loss = %norm)");
  EXPECT_EQ(message_of([&] {
              add_gradients(graph, graph.output("loss"), {{graph.find("x"), 0}});
            }),
            "operation global_norm (node %norm) has no gradient");
}

TEST(Gradients, DoNotAskOperationsBesideTheWay) {
  constexpr std::string_view text = R"(%x = input : f32[2]
%other = input : f32[2]
%norm = global_norm(%other) : f32[]
%y = mul(%x, %norm) : f32[2]
%loss = sum_to(%y) {shape=[]} : f32[]
output loss = %loss)";
  EXPECT_EQ(gradient_of(
                text, "x",
                {{"x", Tensor::of<float>({2}, {1, 2})}, {"other", Tensor::of<float>({2}, {3, 4})}}),
            (std::vector<float>{5, 5}));
}

TEST(Gradients, NeedAScalarLoss) {
  Graph graph = parse(R"(%x = input : f32[4]
%y = relu(%x) : f32[4]
output loss = %y)");
  EXPECT_EQ(message_of([&] {
              add_gradients(graph, graph.output("loss"), {{graph.find("x"), 0}});
            }),
            "the loss must be a scalar f32[], %y is f32[4]");
}

// Two layers. Every parameter affects the loss through the operations of all others.
constexpr std::string_view kNet = R"(%x = input : f32[B, 3]
%labels = input : i64[B]
%w1 = input : f32[5, 3]
%b1 = input : f32[5]
%w2 = input : f32[4, 5]
%h = linear(%x, %w1, %b1) : f32[B, 5]
%a = tanh(%h) : f32[B, 5]
%logits = linear(%a, %w2) : f32[B, 4]
%loss = cross_entropy(%logits, %labels) : f32[]
output loss = %loss)";

Tensor random_tensor(Sizes sizes, std::string_view name) {
  RandomSequence random(1, stream_of(name));
  Tensor tensor = Tensor::empty(DType::f32, sizes);
  for (float& value : tensor.values<float>()) value = static_cast<float>(random.normal());
  return tensor;
}

// Central differences with h = 2^-6 have a truncation error of h^2/6 f''' (f''' is below 10 here: 4e-4) and a rounding
// error of 2^-23 / h for a loss below 4: 8e-6.
TEST(Gradients, OfATwoLayerNetAreThoseOfDifferences) {
  const NamedTensors inputs = {{"x", random_tensor({6, 3}, "x")},
                               {"labels", Tensor::of<std::int64_t>({6}, {0, 3, 2, 1, 1, 3})},
                               {"w1", random_tensor({5, 3}, "w1")},
                               {"b1", random_tensor({5}, "b1")},
                               {"w2", random_tensor({4, 5}, "w2")}};
  const Graph graph = parse(kNet);
  constexpr float kStep = 0x1p-6f;
  for (const char* name : {"w1", "b1", "w2", "x"}) {
    const std::vector<float> gradient = gradient_of(kNet, name, inputs);
    const std::span<float> values = inputs.at(name).values<float>();
    for (std::size_t i = 0; i < values.size(); ++i) {
      const float middle = values[i];
      const auto loss_at = [&](float value) {
        values[i] = value;
        return static_cast<double>(*run_graph(graph, inputs).at("loss").data<float>());
      };
      const float above = middle + kStep, below = middle - kStep;
      const double expected = (loss_at(above) - loss_at(below)) / (above - below);
      values[i] = middle;
      EXPECT_NEAR(gradient[i], expected, 5e-4) << name << " " << i;
    }
  }
}

}  // namespace
}  // namespace hone::testing
