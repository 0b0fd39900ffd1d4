#include "hone/passes/autocast.h"

#include "hone/autodiff/gradients.h"
#include "tests/passes/before_after.h"
#include "tests/support/evaluate.h"
#include "tests/support/expect.h"

namespace hone::testing {
namespace {

constexpr std::string_view kLinear = R"(%x = input : f32[B, 4]
%w = parameter weight trainable : f32[4, 4]
%y = linear(%x, %w) : f32[B, 4]
%z = linear(%y, %w) : f32[B, 4]
output z = %z
)";

TEST(Autocast, CastsAWeightOnceForAllWhoReadIt) {
  Graph graph = parse(kLinear);
  EXPECT_TRUE(autocast(graph, DType::f16));
  EXPECT_EQ(graph.operations("cast").size(), 3u);  // x, w, and what comes out
  EXPECT_EQ(graph.output("z").type().dtype, DType::f32);
}

TEST(Autocast, LeavesAGraphWithoutProductsAlone) {
  Graph graph = parse("%x = input : f32[4]\n%y = relu(%x) : f32[4]\noutput y = %y\n");
  EXPECT_FALSE(autocast(graph, DType::bf16));
}

TEST(Autocast, RefusesAnotherType) {
  Graph graph = parse(kLinear);
  expect_user_error("must be bf16 or f16, got i64", [&] { autocast(graph, DType::i64); });
}

constexpr std::string_view kConvolution = R"(%x = input : f32[B, 3, 8, 8]
%w = parameter weight trainable : f32[4, 3, 3, 3]
%gamma = parameter gain trainable : f32[4]
%beta = parameter bias trainable : f32[4]
%mean = parameter buffer : f32[4]
%variance = parameter buffer : f32[4]
%c = conv2d(%x, %w) : f32[B, 4, 6, 6]
%n = batch_norm(%c, %gamma, %beta, %mean, %variance) : f32[B, 4, 6, 6]
%p = max_pool2d(%n) {kernel=2, stride=2} : f32[B, 4, 3, 3]
%y = global_average_pool(%p) : f32[B, 4]
output y = %y
)";

TEST(Autocast, LeavesConvolutionsAloneUnlessAsked) {
  Graph graph = parse(kConvolution);
  EXPECT_FALSE(autocast(graph, DType::bf16));
}

TEST(Autocast, KeepsStatisticsInFloatBetweenConvolutions) {
  Graph graph = parse(kConvolution);
  EXPECT_TRUE(autocast(graph, DType::bf16, /*convolutions=*/true));
  EXPECT_EQ(graph.operations("cast").size(), 3u);  // x, w, and what comes out
  const Node& norm = *graph.operations("batch_norm").front();
  EXPECT_EQ(norm.types()[0].dtype, DType::bf16);
  EXPECT_EQ(norm.input(1).type().dtype, DType::f32);
}

// Gradients come back in the types of what they are of.
TEST(Autocast, GivesGradientsInFloat) {
  Graph graph = parse(R"(%x = input : f32[3, 4]
%targets = input : f32[3, 4]
%w = parameter weight trainable : f32[4, 4]
%b = parameter bias trainable : f32[4]
%y = linear(%x, %w, %b) : f32[3, 4]
%loss = mean_squared_error(%y, %targets) : f32[]
output loss = %loss
)");
  autocast(graph, DType::bf16);
  for (const Value gradient :
       add_gradients(graph, graph.output("loss"), {{graph.find("w"), 0}, {graph.find("b"), 0}})) {
    ASSERT_TRUE(gradient);
    EXPECT_EQ(gradient.type().dtype, DType::f32);
  }
}

}  // namespace
}  // namespace hone::testing
