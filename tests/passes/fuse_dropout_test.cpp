#include "hone/passes/fuse_dropout.h"

#include "hone/autodiff/gradients.h"
#include "hone/base/random.h"
#include "hone/passes/dead_code.h"
#include "hone/passes/lora.h"
#include "tests/passes/before_after.h"

namespace hone::testing {
namespace {

// Adapters of two linears, and the gradients of their factors. Nothing before the first linear is trained.
Graph step(ParameterStore& parameters, double dropout) {
  Graph graph = parse(R"(%x = input : f32[B, 5, 6]
%labels = input : i64[B]
%v = parameter weight trainable : f32[4, 6]
%w = parameter weight trainable : f32[3, 4]
%below = linear(%x, %v) : f32[B, 5, 4]
%y = linear(%below, %w) : f32[B, 5, 3]
%first = slice(%y) {axis=1, begin=0, size=[1]} : f32[B, 1, 3]
%logits = reshape(%first) {shape=[B, 3]} : f32[B, 3]
%loss = cross_entropy(%logits, %labels) : f32[]
output loss = %loss
)");
  insert_lora(graph, parameters, {.rank = 2, .dropout = dropout});
  RandomSequence random(3, 5);
  for (const Node* parameter : graph.of_kind(NodeKind::parameter)) {
    Tensor values = Tensor::empty(DType::f32, resolve(parameter->types()[0].shape, {}));
    for (float& value : values.values<float>()) value = static_cast<float>(random.normal());
    parameters.set(parameter->name(), values);
  }
  std::vector<Value> factors;
  for (Node* parameter : graph.of_kind(NodeKind::parameter))
    if (parameter->trainable()) factors.push_back({parameter, 0});
  const std::vector<Value> gradients = add_gradients(graph, graph.output("loss"), factors);
  for (std::size_t i = 0; i < factors.size(); ++i)
    graph.set_output(factors[i].node->name(), gradients[i]);
  remove_dead_code(graph);
  return graph;
}

std::ptrdiff_t count(const Graph& graph, std::string_view op) {
  return std::ranges::count_if(graph.of_kind(NodeKind::operation),
                               [&](const Node* node) { return node->is(op); });
}

TEST(FuseDropout, DropsWhatAdaptersReadWhileTheyReadIt) {
  ParameterStore parameters;
  Graph graph = step(parameters, 0.4);
  RandomSequence random(7, 9);
  Tensor x = Tensor::empty(DType::f32, {2, 5, 6});
  for (float& value : x.values<float>()) value = static_cast<float>(random.normal());
  const NamedTensors inputs = {{"x", x},
                               {"labels", Tensor::of<std::int64_t>({2}, {0, 2})},
                               {"random_key", Tensor::scalar<std::int64_t>(11)}};
  const NamedTensors before = run_graph(graph, inputs, parameters);
  EXPECT_EQ(count(graph, "dropout"), 3);
  EXPECT_TRUE(fuse_dropout(graph));
  verify(graph);
  // The input of the first adapter needs no gradient, so its dropout is not fused.
  EXPECT_EQ(count(graph, "dropout"), 1);
  EXPECT_EQ(count(graph, "dropped_linear"), 1);
  EXPECT_EQ(count(graph, "dropped_linear_gradient"), 1);
  const NamedTensors after = run_graph(graph, inputs, parameters);
  for (const auto& [name, tensor] : before) {
    const std::vector<float> expected = elements_of(tensor), got = elements_of(after.at(name));
    for (std::size_t i = 0; i < expected.size(); ++i)
      EXPECT_NEAR(got[i], expected[i], 1e-5 * std::max(1.0f, std::fabs(expected[i]))) << name;
  }
  EXPECT_FALSE(fuse_dropout(graph));
}

TEST(FuseDropout, LeavesAllElse) {
  ParameterStore parameters;
  Graph graph = step(parameters, 0);
  EXPECT_FALSE(fuse_dropout(graph));
  // A weight that does not belong to an adapter.
  Graph model = parse(R"(%x = input : f32[B, 6]
%random_key = input : i64[]
%labels = input : i64[B]
%w = parameter weight trainable : f32[3, 6]
%a = relu(%x) : f32[B, 6]
%d = dropout(%a, %random_key) {p=0.5} : f32[B, 6]
%y = linear(%d, %w) : f32[B, 3]
%loss = cross_entropy(%y, %labels) : f32[]
output loss = %loss
)");
  EXPECT_FALSE(fuse_dropout(model));
}

}  // namespace
}  // namespace hone::testing
