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
  chain.graph.set_input(*chain.z.node, 1, {chain.y.node, 1});
  EXPECT_EQ(broken(chain.graph), "%z uses result 1 of %y");
  Chain output;
  output.graph.set_output("result", {output.y.node, 1});
  EXPECT_EQ(broken(output.graph), "output result is result 1 of %y");
}

TEST(Verify, FindsTypesThatDoNotFollow) {
  Chain chain;
  const Value wide = chain.graph.add_input("wide", {DType::f32, {2, 4}});
  chain.graph.set_input(*chain.z.node, 1, wide);
  EXPECT_EQ(broken(chain.graph), "the types of %z do not follow from its inputs");
}

TEST(Verify, FindsInputsTheOperationRefuses) {
  Chain chain;
  const Value ids = chain.graph.add_input("ids", {DType::i64, {4}});
  chain.graph.set_input(*chain.z.node, 1, ids);
  EXPECT_EQ(broken(chain.graph), "the inputs of %z do not fit: input must be f32, got i64[4]");
}

}  // namespace
}  // namespace hone::testing
