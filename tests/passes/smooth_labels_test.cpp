#include "hone/passes/smooth_labels.h"

#include "tests/passes/before_after.h"
#include "tests/support/expect.h"

namespace hone::testing {
namespace {

constexpr std::string_view kHardLoss = R"(%logits = input : f32[B, 4]
%labels = input : i64[B]
%loss = cross_entropy(%logits, %labels) : f32[]
output logits = %logits
output loss = %loss
)";

TEST(SmoothLabels, GivesAShareToAllClassesAlike) {
  expect_after(
      kHardLoss, [](Graph& graph) { return smooth_labels(graph, 0.125); },
      R"(%logits = input : f32[B, 4]
%labels = input : i64[B]
%loss = cross_entropy(%logits, %labels) : f32[]
%loss.alike = full(%logits) {value=0.25, dtype="f32"} : f32[B, 4]
%loss.spread = soft_cross_entropy(%logits, %loss.alike, %labels) : f32[]
%loss.kept = scale(%loss) {factor=0.875} : f32[]
%loss.moved = scale(%loss.spread) {factor=0.125} : f32[]
%loss.smoothed = add(%loss.kept, %loss.moved) : f32[]
output logits = %logits
output loss = %loss.smoothed
)");
}

TEST(SmoothLabels, OfNothingChangesNothing) {
  expect_after(
      kHardLoss, [](Graph& graph) { return smooth_labels(graph, 0); }, kHardLoss);
}

TEST(SmoothLabels, AreThoseOfClasses) {
  Graph graph = parse(R"(%logits = input : f32[B, 1]
%labels = input : f32[B, 1]
%loss = mean_squared_error(%logits, %labels) : f32[]
output loss = %loss
)");
  expect_user_error("label smoothing needs a cross-entropy loss over classes",
                    [&] { smooth_labels(graph, 0.1); });
}

}  // namespace
}  // namespace hone::testing
