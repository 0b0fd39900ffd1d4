#include "hone/passes/distill.h"

#include "hone/passes/weigh_classes.h"
#include "tests/passes/before_after.h"
#include "tests/support/expect.h"

namespace hone::testing {
namespace {

constexpr std::string_view kLabelLoss = R"(%logits = input : f32[B, 3]
%labels = input : i64[B]
%loss = cross_entropy(%logits, %labels) : f32[]
output loss = %loss
)";

TEST(Distill, AddsWhatAnswersAreAwayFromTheParents) {
  expect_after(
      kLabelLoss, [](Graph& graph) { return distill(graph, {.temperature = 4, .alpha = 0.25}); },
      R"(%logits = input : f32[B, 3]
%labels = input : i64[B]
%parent_logits = input : f32[B, 3]
%loss = cross_entropy(%logits, %labels) : f32[]
%distill.parent = scale(%parent_logits) {factor=0.25} : f32[B, 3]
%distill.own = scale(%logits) {factor=0.25} : f32[B, 3]
%distill.wished = softmax(%distill.parent) : f32[B, 3]
%distill.cross_entropy = soft_cross_entropy(%distill.own, %distill.wished, %labels) : f32[]
%distill.entropy = soft_cross_entropy(%distill.parent, %distill.wished, %labels) : f32[]
%distill.cross_entropy.share = scale(%distill.cross_entropy) {factor=12.0} : f32[]
%distill.entropy.share = scale(%distill.entropy) {factor=-12.0} : f32[]
%distill.divergence = add(%distill.cross_entropy.share, %distill.entropy.share) : f32[]
%distill.labels = scale(%loss) {factor=0.25} : f32[]
%distill.loss = add(%distill.labels, %distill.divergence) : f32[]
output loss = %distill.loss
)");
}

// Micro-batches of a step then weigh equally in all terms of the loss.
TEST(Distill, IsWeighedByTheClassesOfTheLabels) {
  Graph graph = parse(kLabelLoss);
  distill(graph, {});
  EXPECT_TRUE(weigh_classes(graph));
  for (const Node* node : graph.of_kind(NodeKind::operation)) {
    const std::size_t operands = node->is("soft_cross_entropy") ? 4 : 3;
    if (operands == 4 || node->is("cross_entropy")) {
      EXPECT_EQ(node->inputs().size(), operands) << node->name();
    }
  }
}

TEST(Distill, RefusesOptionsAndLossesWithoutSense) {
  Graph graph = parse(kLabelLoss);
  expect_user_error("`distill_temperature` must be above 0, got 0",
                    [&] { distill(graph, {.temperature = 0}); });
  expect_user_error("`distill_alpha` must be within [0, 1], got 2",
                    [&] { distill(graph, {.alpha = 2}); });
  Graph other = parse(R"(%logits = input : f32[B, 1]
%labels = input : f32[B, 1]
%loss = mean_squared_error(%logits, %labels) : f32[]
output loss = %loss
)");
  expect_user_error("distillation from a teacher's classes needs a cross-entropy loss",
                    [&] { distill(other, {}); });
}

}  // namespace
}  // namespace hone::testing
