#include "hone/passes/replace_by_identity.h"

#include "tests/passes/before_after.h"
#include "tests/support/message.h"

namespace hone::testing {
namespace {

constexpr std::string_view kText = R"(%x = input : f32[B, 4]
%w = parameter weight trainable : f32[4, 4]
%b = parameter bias trainable : f32[4]
%v = parameter weight trainable : f32[3, 4]
%dense = linear(%x, %w, %b) : f32[B, 4]
%act = relu(%dense) : f32[B, 4]
%head = linear(%act, %v) : f32[B, 3]
output y = %head
)";

TEST(ReplaceByIdentity, LetsALinearAndItsParametersGo) {
  expect_after(
      kText, [](Graph& graph) { return replace_by_identity(graph, {"den*"}); },
      R"(%x = input : f32[B, 4]
%v = parameter weight trainable : f32[3, 4]
%act = relu(%x) : f32[B, 4]
%head = linear(%act, %v) : f32[B, 3]
output y = %head
)");
}

TEST(ReplaceByIdentity, SaysWhatDoesNotFitBeforeAnythingChanges) {
  Graph graph = parse(kText);
  const std::string before = to_string(graph);
  EXPECT_EQ(message_of([&] {
              replace_by_identity(graph, {"dense", "head"});
            }),
            "%head computes f32[B, 3] from f32[B, 4], so its input cannot replace it");
  EXPECT_EQ(message_of([&] { replace_by_identity(graph, {"act"}); }),
            "no linear layer matches 'act'; `hone plan` lists them");
  EXPECT_EQ(to_string(graph), before);
}

}  // namespace
}  // namespace hone::testing
