#include "hone/passes/keep_outputs.h"

#include <gtest/gtest.h>

#include "tests/passes/before_after.h"
#include "tests/support/message.h"

namespace hone::testing {
namespace {

constexpr const char* kWithLoss = R"(%x = input : f32[B, 2]
%labels = input : i64[B]
%w = parameter weight trainable : f32[3, 2]
%unused = parameter bias trainable : f32[3]
%y = linear(%x, %w) : f32[B, 3]
%loss = cross_entropy(%y, %labels) : f32[]
output logits = %y
output loss = %loss
)";

TEST(KeepOutputs, LeavesOutWhatOnlyOthersDependOn) {
  expect_after(
      kWithLoss, [](Graph& graph) { return keep_outputs(graph, {"logits"}); },
      R"(%x = input : f32[B, 2]
%w = parameter weight trainable : f32[3, 2]
%y = linear(%x, %w) : f32[B, 3]
output logits = %y
)");
}

TEST(KeepOutputs, OfAllOutputsDropsWhatNoneNeeds) {
  Graph graph = parse(kWithLoss);
  EXPECT_TRUE(keep_outputs(graph, {"logits", "loss"}));
  EXPECT_EQ(graph.find("unused"), nullptr);
  EXPECT_FALSE(keep_outputs(graph, {"logits", "loss"}));
}

TEST(KeepOutputs, RefusesAnOutputThatIsNotThere) {
  Graph graph = parse(kWithLoss);
  EXPECT_EQ(message_of([&] { keep_outputs(graph, {"scores"}); }),
            "the graph has no output 'scores'");
  EXPECT_EQ(graph.outputs().size(), 2u);
}

}  // namespace
}  // namespace hone::testing
