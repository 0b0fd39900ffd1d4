#include "hone/ir/verify.h"

#include <gtest/gtest.h>

#include "hone/ops/list.h"
#include "tests/support/message.h"

namespace hone::testing {
namespace {

const OpTable& ops() {
  static const OpTable table = builtin_ops();
  return table;
}

const Type kRow{DType::f32, {4}};

struct Chain {
  Graph graph{ops()};
  Value x = graph.add_input("x", kRow);
  Value y = graph.add("relu", {x}, {}, "y");
  Value z = graph.add("add", {y, x}, {}, "z");
};

std::string broken(const Graph& graph) {
  return assertion_of([&] { verify(graph); });
}

TEST(Verify, AcceptsAGraphAsItWasBuilt) {
  Chain chain;
  EXPECT_EQ(broken(chain.graph), "no error");
}

TEST(Verify, FindsAUseAboveItsDefinition) {
  Chain chain;
  chain.graph.set_input(*chain.y.node, 0, chain.z);
  EXPECT_EQ(broken(chain.graph), "%y uses a value that is not defined above it");
}

TEST(Verify, FindsAValueOfAnotherGraph) {
  Chain chain, other;
  chain.graph.set_input(*chain.z.node, 1, other.x);
  EXPECT_EQ(broken(chain.graph), "%z uses a value that is not defined above it");
  Chain third;
  third.graph.set_output("result", other.y);
  EXPECT_EQ(broken(third.graph), "output result is no value of the graph");
  EXPECT_EQ(broken(other.graph), "%x has a user that does not use it");
}

TEST(Verify, FindsAResultThatDoesNotExist) {
  Chain chain;
  chain.graph.set_output("result", {chain.y.node, 1});
  EXPECT_EQ(broken(chain.graph), "output result is result 1 of %y");
}

// An operation whose rule changes its mind.
bool wide = false, refuses = false;
OpDef fickle() {
  return {.name = "fickle",
          .summary = "for tests",
          .inputs = {"x"},
          .infer = [](const TypeContext& context) -> std::vector<Type> {
            user_check(!refuses, "not today");
            return {wide ? Type{DType::f32, {2, 4}} : context.inputs[0]};
          },
          .reference = nullptr};
}

TEST(Verify, FindsTypesThatDoNotFollowAndInputsTheOperationRefuses) {
  const OpTable table = {{"fickle", fickle()}};
  Graph graph(table);
  graph.add("fickle", {graph.add_input("x", kRow)}, {}, "y");
  EXPECT_EQ(broken(graph), "no error");
  wide = true;
  EXPECT_EQ(broken(graph), "the types of %y do not follow from its inputs");
  refuses = true;
  EXPECT_EQ(broken(graph), "the inputs of %y do not fit: not today");
}

}  // namespace
}  // namespace hone::testing
