#include "hone/ir/graph.h"

#include <gtest/gtest.h>

#include "hone/ir/print.h"
#include "hone/ir/verify.h"
#include "tests/ir/ops.h"
#include "tests/support/message.h"

namespace hone::testing {
namespace {

const Type kRow{DType::f32, {Dim::of_symbol('B'), 4}};

// y = relu(x);  z = add(y, y)
struct Chain {
  Graph graph{ops()};
  Value x = graph.add_input("x", kRow);
  Value y = graph.add("relu", {x}, {}, "y");
  Value z = graph.add("add", {y, y}, {}, "z");
  Chain() { graph.set_output("result", z); }
};

TEST(Graph, InfersTypesAndFillsInAttributes) {
  Graph graph(ops());
  const Value x = graph.add_input("x", kRow);
  const Node& node = graph.add_node("gelu", {x});
  EXPECT_EQ(node.types(), std::vector<Type>{kRow});
  EXPECT_EQ(node.attributes(), (Attributes{{"approximate", std::string("none")}}));
}

TEST(Graph, KeepsUsersInStepWithInputs) {
  Chain chain;
  EXPECT_EQ(chain.x.node->users(), (std::vector<Node*>{chain.y.node}));
  EXPECT_EQ(chain.y.node->users(), (std::vector<Node*>{chain.z.node, chain.z.node}));
  chain.graph.set_input(*chain.z.node, 1, chain.x);
  EXPECT_EQ(chain.x.node->users(), (std::vector<Node*>{chain.y.node, chain.z.node}));
  EXPECT_EQ(chain.y.node->users(), (std::vector<Node*>{chain.z.node}));
  verify(chain.graph);
}

TEST(Graph, PutsInputsBeforeParametersBeforeOperations) {
  Graph graph(ops());
  const Value x = graph.add_input("x", kRow);
  graph.add("relu", {x}, {}, "y");
  graph.add_parameter("p", kRow, ParameterRole::weight, true);
  graph.add_input("x2", kRow);
  graph.add_parameter("p2", kRow, ParameterRole::weight, false);
  std::string order;
  for (const auto& node : graph.nodes()) order += node->name() + " ";
  EXPECT_EQ(order, "x x2 p p2 y ");
}

TEST(Graph, InsertsInFrontOfANode) {
  Chain chain;
  const Value middle = chain.graph.add("tanh", {chain.y}, {}, "middle", chain.z.node);
  chain.graph.set_input(*chain.z.node, 0, middle);
  verify(chain.graph);
  EXPECT_EQ(to_string(chain.graph), R"(%x = input : f32[B, 4]
%y = relu(%x) : f32[B, 4]
%middle = tanh(%y) : f32[B, 4]
%z = add(%middle, %y) : f32[B, 4]
output result = %z
)");
}

TEST(Graph, MakesNamesOfOperationsUnique) {
  Chain chain;
  const auto name_of = [&](std::string_view wanted) {
    return chain.graph.add_node("relu", {chain.x}, {}, wanted).name();
  };
  EXPECT_EQ(name_of("y"), "y.1");
  EXPECT_EQ(name_of("y"), "y.2");
  EXPECT_EQ(name_of(""), "relu");
  EXPECT_EQ(name_of(""), "relu.1");
  EXPECT_EQ(chain.graph.find("y.2")->name(), "y.2");
  EXPECT_EQ(chain.graph.find("y.3"), nullptr);
}

TEST(Graph, RefusesASecondInputOrParameterOfOneName) {
  Chain chain;
  EXPECT_EQ(message_of([&] { chain.graph.add_input("y", kRow); }),
            "the graph has two nodes called 'y'");
  EXPECT_EQ(message_of([&] { chain.graph.add_parameter("x", kRow, ParameterRole::weight, true); }),
            "the graph has two nodes called 'x'");
}

TEST(Graph, NamesTheNearestOperationAndAttribute) {
  Chain chain;
  EXPECT_EQ(message_of([&] { chain.graph.add("layernorm", {chain.x}); }),
            "unknown operation 'layernorm'; did you mean 'layer_norm'?");
  EXPECT_EQ(message_of([&] { chain.graph.add("convolution", {chain.x}); }),
            "unknown operation 'convolution'");
  EXPECT_EQ(message_of([&] {
              chain.graph.add("scale", {chain.x}, {{"facto", 2.0}}, "s");
            }),
            "at node %s (scale): has no attribute 'facto'; did you mean 'factor'?");
  EXPECT_EQ(message_of([&] { chain.graph.add("scale", {chain.x}, {}, "s"); }),
            "at node %s (scale): needs the attribute 'factor'");
  EXPECT_EQ(message_of([&] {
              chain.graph.add("gelu", {chain.x}, {{"approximate", true}}, "g");
            }),
            "at node %g (gelu): attribute 'approximate' has the wrong type");
}

TEST(Graph, StaysAsItWasWhenANodeIsRefused) {
  Chain chain;
  const std::string before = to_string(chain.graph);
  EXPECT_THROW(chain.graph.add("add", {chain.x}), UserError);
  EXPECT_EQ(to_string(chain.graph), before);
  verify(chain.graph);
}

TEST(Graph, ReplacesUsesInNodesAndOutputs) {
  Chain chain;
  chain.graph.set_output("again", chain.y);
  chain.graph.replace_uses(chain.y, chain.x);
  EXPECT_TRUE(chain.y.node->users().empty());
  EXPECT_EQ(chain.z.node->inputs(), (std::vector<Value>{chain.x, chain.x}));
  EXPECT_EQ(chain.graph.output("again"), chain.x);
  EXPECT_EQ(chain.graph.output("result"), chain.z);
  verify(chain.graph);
}

TEST(Graph, ReplacesOneResultOfANodeAlone) {
  Graph graph(ops());
  const Value x = graph.add_input("x", kRow);
  const Value gamma = graph.add_input("gamma", {DType::f32, {4}});
  Node& node = graph.add_node("layer_norm_gradient", {x, gamma, x});
  const Value sum = graph.add("add", {{&node, 1}, {&node, 2}}, {}, "sum");
  graph.replace_uses({&node, 1}, gamma);
  EXPECT_EQ(sum.node->inputs(), (std::vector<Value>{gamma, {&node, 2}}));
}

TEST(Graph, ErasesNodesNobodyUses) {
  Chain chain;
  chain.graph.replace_uses(chain.z, chain.y);
  chain.graph.erase(*chain.z.node);
  EXPECT_EQ(chain.graph.find("z"), nullptr);
  EXPECT_TRUE(chain.y.node->users().empty());
  verify(chain.graph);
}

TEST(Graph, NamesTheUsersOfANodeItCannotErase) {
  Chain chain;
  chain.graph.add("tanh", {chain.y}, {}, "other");
  EXPECT_EQ(message_of([&] { chain.graph.erase(*chain.y.node); }),
            "cannot erase %y: it is used by %other, %z; replace those uses first");
  EXPECT_EQ(message_of([&] { chain.graph.erase(*chain.z.node); }),
            "cannot erase %z: it is used by output result; replace those uses first");
}

TEST(Graph, SetsReplacesAndRemovesOutputs) {
  Chain chain;
  chain.graph.set_output("other", chain.x);
  chain.graph.set_output("result", chain.y);
  EXPECT_EQ(chain.graph.outputs(),
            (std::vector<std::pair<std::string, Value>>{{"result", chain.y}, {"other", chain.x}}));
  EXPECT_TRUE(chain.graph.is_output(*chain.y.node));
  EXPECT_FALSE(chain.graph.is_output(*chain.z.node));
  chain.graph.remove_output("result");
  EXPECT_FALSE(chain.graph.output("result"));
  EXPECT_EQ(chain.graph.output("other"), chain.x);
}

TEST(Graph, CopyIsIndependent) {
  Chain chain;
  chain.graph.add_parameter("p", kRow, ParameterRole::weight, true);
  const std::string before = to_string(chain.graph);
  Graph copy = chain.graph;
  EXPECT_EQ(to_string(copy), before);
  verify(copy);
  copy.replace_uses({copy.find("y"), 0}, {copy.find("x"), 0});
  copy.erase(*copy.find("y"));
  copy.set_trainable(*copy.find("p"), false);
  copy.set_output("result", {copy.find("x"), 0});
  verify(copy);
  EXPECT_EQ(to_string(chain.graph), before);
  verify(chain.graph);
  EXPECT_EQ(&copy.find("z")->op(), &chain.z.node->op());
}

TEST(Graph, TypesFollowAChangeOfWhatTheyComeFrom) {
  Graph graph(ops());
  const Value x = graph.add_input("x", kRow);
  const Value w =
      graph.add_parameter("w", {DType::f32, {3, 4}}, ParameterRole::weight, /*trainable=*/true);
  const Value b = graph.add_parameter("b", {DType::f32, {}}, ParameterRole::bias, true);
  const Value y = graph.add("linear", {x, w}, {}, "y");
  const Value z = graph.add("add", {graph.add("relu", {y}), b}, {}, "z");
  graph.set_type(*w.node, {DType::f32, {7, 4}});
  EXPECT_EQ(to_string(z.type()), "f32[B, 7]");
  verify(graph);
  // Replace the weight.
  graph.set_input(
      *y.node, 1,
      graph.add_parameter("v", {DType::f32, {5, 4}}, ParameterRole::adapter, /*trainable=*/true));
  EXPECT_EQ(to_string(z.type()), "f32[B, 5]");
  verify(graph);
  graph.replace_uses(y, x);
  EXPECT_EQ(to_string(z.type()), "f32[B, 4]");
  verify(graph);
}

TEST(Graph, AttributesCanBeSet) {
  Graph graph(ops());
  const Value x = graph.add_input("x", {DType::f32, {Dim::of_symbol('B'), 4, 3}});
  const Value y = graph.add("slice", {x}, {{"axis", std::int64_t{1}}, {"size", Shape{2}}}, "y");
  const Value z = graph.add("relu", {y}, {}, "z");
  graph.set_attribute(*y.node, "size", Shape{1});
  EXPECT_EQ(to_string(z.type()), "f32[B, 1, 3]");
  EXPECT_EQ(y.node->attributes().get<std::int64_t>("axis"), 1) << "the others stay";
  verify(graph);
  EXPECT_EQ(message_of([&] { graph.set_attribute(*y.node, "length", Shape{1}); }),
            "at node %y (slice): has no attribute 'length'");
  EXPECT_EQ(message_of([&] { graph.set_attribute(*y.node, "axis", 1.0); }),
            "at node %y (slice): attribute 'axis' has the wrong type");
}

TEST(Graph, AChangeThatDoesNotFitLeavesItAsItWas) {
  Graph graph(ops());
  const Value x = graph.add_input("x", {DType::f32, {2, 4}});
  const Value w = graph.add_parameter("w", {DType::f32, {4}}, ParameterRole::gain, true);
  const Value y = graph.add("relu", {x}, {}, "y");
  graph.add("add", {y, w}, {}, "z");
  const std::string before = to_string(graph);
  const std::string refused = message_of([&] { graph.set_type(*x.node, {DType::f32, {2, 5}}); });
  EXPECT_TRUE(refused.starts_with("at node %z (add): ")) << refused;
  const Value other = graph.add_input("other", {DType::f32, {3}});
  EXPECT_TRUE(message_of([&] { graph.replace_uses(y, other); }).starts_with("at node %z (add): "));
  EXPECT_TRUE(
      message_of([&] { graph.set_input(*y.node, 0, other); }).starts_with("at node %z (add): "));
  graph.erase(*other.node);
  EXPECT_EQ(to_string(graph), before);
  verify(graph);
}

TEST(OperandRole, IsWhatTheOperationSays) {
  Graph graph(ops());
  const Value x = graph.add_input("x", {DType::f32, {3, 2}});
  const Value w = graph.add_parameter("w", {DType::f32, {4, 2}}, ParameterRole::weight, true);
  const Value b = graph.add_parameter("b", {DType::f32, {4}}, ParameterRole::bias, true);
  const Node& linear = graph.add_node("linear", {x, w, b});
  EXPECT_EQ(operand_role(linear, 0), OperandRole::input);
  EXPECT_EQ(operand_role(linear, 1), OperandRole::weight);
  EXPECT_EQ(operand_role(linear, 2), OperandRole::bias);
  static const FormatTable formats = builtin_formats();
  const Node& quantizer =
      graph.add_node("quantize", {x}, {{"format", parse_format("mxint", formats)}});
  EXPECT_EQ(operand_role(quantizer, 3), OperandRole::state) << "of any number";
}

TEST(OperandRole, FollowsFromAttributesWhereTheseDecideWhatIsRead) {
  OpTable table;
  table.emplace("sum",
                OpDef{.name = "sum",
                      .summary = "",
                      .inputs_of = [](const Attributes& attributes) -> std::vector<OperandDef> {
                        if (attributes.get<bool>("more"))
                          return {"x", "more", {"state", OperandRole::state}};
                        return {"x", {"state", OperandRole::state}};
                      },
                      .attributes = {{"more", false}},
                      .infer = [](const TypeContext& context) -> std::vector<Type> {
                        return {context.inputs[0]};
                      },
                      .reference = nullptr});
  Graph graph(table);
  const Value x = graph.add_input("x", {DType::f32, {3}});
  EXPECT_EQ(operand_role(graph.add_node("sum", {x, x}), 1), OperandRole::state);
  const Node& more = graph.add_node("sum", {x, x, x}, {{"more", true}});
  EXPECT_EQ(operand_role(more, 1), OperandRole::input);
  EXPECT_EQ(operand_role(more, 2), OperandRole::state);
  EXPECT_EQ(message_of([&] {
              graph.add("sum", {x, x}, {{"more", true}}, "y");
            }),
            "at node %y (sum): takes x, more, state inputs, got 2");
}

TEST(ParameterRole, OfEveryNameIsFoundAgain) {
  for (const ParameterRoleInfo& row : parameter_roles()) {
    EXPECT_EQ(parse_parameter_role(row.name), row.role);
    EXPECT_EQ(&info(row.role), &row);
  }
}

TEST(Graph, MovesWithItsNodes) {
  Chain chain;
  const std::string before = to_string(chain.graph);
  Graph moved = std::move(chain.graph);
  EXPECT_EQ(to_string(moved), before);
  moved.remove_output("result");
  moved.erase(*moved.find("z"));
  verify(moved);
}

}  // namespace
}  // namespace hone::testing
