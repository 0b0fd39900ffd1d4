#include "hone/runtime/graph_remainder.h"

#include <gtest/gtest.h>

#include "hone/ir/parse.h"
#include "hone/ir/print.h"
#include "hone/ir/verify.h"
#include "tests/support/tiny_model.h"

namespace hone {
namespace {

using testing::builtin;

// y = tanh(x w1 + x w2), z = gelu(y)
struct TwoBranches {
  Graph graph{builtin().ops};
  ParameterStore parameters;

  TwoBranches() {
    const Value x = graph.add_input("x", {DType::f32, {Dim::of_symbol('B'), 2}});
    const Value a = linear("a", x), b = linear("b", x);
    const Value y = graph.add("tanh", {graph.add("add", {a, b}, {}, "sum")}, {}, "y");
    graph.set_output("z", graph.add("gelu", {y}, {}, "z"));
  }
  Value linear(const std::string& name, Value x) {
    const Value w =
        graph.add_parameter(name + ".w", {DType::f32, {2, 2}}, ParameterRole::weight, true);
    parameters.set(name + ".w", Tensor::of<float>({2, 2}, std::vector<float>{1, 2, 3, 4}));
    return graph.add("linear", {x, w}, {}, name);
  }
};

GraphRest rest_after(const TwoBranches& variant) {
  const TwoBranches base;
  GraphRest rest = rest_of(variant.graph, variant.parameters, base.graph, base.parameters);
  verify(rest.graph);
  return rest;
}

TEST(GraphRest, BeginsAtAWeightThatIsAnother) {
  TwoBranches variant;
  variant.parameters.set("b.w", Tensor::of<float>({2, 2}, std::vector<float>{1, 2, 3, 5}));
  const GraphRest rest = rest_after(variant);
  // The other branch does not depend on b, so it is shared.
  EXPECT_EQ(rest.shared, (std::vector<std::string>{"x", "a"}));
  EXPECT_EQ(rest.graph.find("a")->kind(), NodeKind::input);
  EXPECT_NE(rest.graph.find("sum"), nullptr);
  EXPECT_FALSE(rest.parameters.contains("a.w"));
  EXPECT_EQ(rest.parameters.at("b.w").values<float>()[3], 5);
}

TEST(GraphRest, IsNothingButASharedValueWhereNothingIsAnother) {
  const GraphRest rest = rest_after(TwoBranches());
  EXPECT_EQ(rest.shared, (std::vector<std::string>{"z"}));
  EXPECT_TRUE(rest.graph.of_kind(NodeKind::operation).empty());
}

TEST(GraphRest, BeginsAtAnotherOperation) {
  TwoBranches variant;
  Node& y = *variant.graph.find("y");
  variant.graph.replace_operation(y, "relu", y.inputs());
  EXPECT_EQ(rest_after(variant).shared, (std::vector<std::string>{"sum"}));
}

TEST(GraphRest, TakesABitThatDiffersForAnother) {
  TwoBranches variant;
  variant.parameters.set("a.w", Tensor::of<float>({2, 2}, std::vector<float>{1, 2, 3, -0.0F}));
  const std::vector<float> zeros = {1, 2, 3, 0};
  TwoBranches base;
  base.parameters.set("a.w", Tensor::of<float>({2, 2}, zeros));
  const GraphRest rest = rest_of(variant.graph, variant.parameters, base.graph, base.parameters);
  EXPECT_EQ(rest.shared, (std::vector<std::string>{"x", "b"}));
}

TEST(Giving, LeavesWhatTheseValuesNeed) {
  const Graph kept = graph_of_values(TwoBranches().graph, {"a", "sum"});
  verify(kept);
  EXPECT_EQ(kept.find("y"), nullptr);
  EXPECT_EQ(kept.outputs().size(), 2u);
}

}  // namespace
}  // namespace hone
