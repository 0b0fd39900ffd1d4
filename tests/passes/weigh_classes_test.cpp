#include "hone/passes/weigh_classes.h"

#include "tests/passes/before_after.h"

namespace hone::testing {
namespace {

TEST(WeighClasses, GivesTheLossAnInputOfWeights) {
  expect_after(R"(%logits = input : f32[B, 3]
%labels = input : i64[B]
%loss = cross_entropy(%logits, %labels) : f32[]
output logits = %logits
output loss = %loss
)",
               weigh_classes,
               R"(%logits = input : f32[B, 3]
%labels = input : i64[B]
%class_weights = input : f32[3]
%loss.1 = cross_entropy(%logits, %labels, %class_weights) : f32[]
output logits = %logits
output loss = %loss.1
)");
}

TEST(WeighClasses, LeavesAGraphWithoutALossAlone) {
  constexpr std::string_view kGraph = R"(%x = input : f32[B, 3]
%y = relu(%x) : f32[B, 3]
output y = %y
)";
  expect_after(kGraph, weigh_classes, kGraph);
}

}  // namespace
}  // namespace hone::testing
