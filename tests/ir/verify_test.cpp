#include "hone/ir/verify.h"

#include <gtest/gtest.h>

#include "tests/ir/ops.h"
#include "tests/support/message.h"

namespace hone::testing {
namespace {

const Type kFour{DType::f32, {4}};

struct Triangle {
  Graph graph{ops()};
  Value x = graph.add_input("x", kFour);
  Value y = graph.add("relu", {x}, {}, "y");
  Value z = graph.add("add", {y, x}, {}, "z");
};

std::string broken(const Graph& graph) {
  return assertion_of([&] { verify(graph); });
}

TEST(Verify, AcceptsAGraphAsItWasBuilt) {
  Triangle triangle;
  EXPECT_EQ(broken(triangle.graph), "no error");
}

TEST(Verify, FindsAUseAboveItsDefinition) {
  Triangle triangle;
  triangle.graph.set_input(*triangle.y.node, 0, triangle.z);
  EXPECT_EQ(broken(triangle.graph), "%y uses a value that is not defined above it");
}

TEST(Verify, FindsAValueOfAnotherGraph) {
  Triangle triangle, other;
  triangle.graph.set_input(*triangle.z.node, 1, other.x);
  EXPECT_EQ(broken(triangle.graph), "%z uses a value that is not defined above it");
  Triangle third;
  third.graph.set_output("result", other.y);
  EXPECT_EQ(broken(third.graph), "output result is not a value of the graph");
  EXPECT_EQ(broken(other.graph), "%x has a user that does not use it");
}

TEST(Verify, FindsAResultThatDoesNotExist) {
  Triangle triangle;
  triangle.graph.set_output("result", {triangle.y.node, 1});
  EXPECT_EQ(broken(triangle.graph), "output result is result 1 of %y");
}

// An operation whose shape rule changes between calls.
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
  graph.add("fickle", {graph.add_input("x", kFour)}, {}, "y");
  EXPECT_EQ(broken(graph), "no error");
  wide = true;
  EXPECT_EQ(broken(graph), "the types of %y do not follow from its inputs");
  refuses = true;
  EXPECT_EQ(broken(graph), "the inputs of %y do not fit: not today");
}

}  // namespace
}  // namespace hone::testing
