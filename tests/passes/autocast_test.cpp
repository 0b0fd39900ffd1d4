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
  EXPECT_EQ(graph.operations("cast").size(), 3u);  // x, w, and the output
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
%mean = parameter buffer frozen : f32[4]
%variance = parameter buffer frozen : f32[4]
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
  EXPECT_TRUE(autocast(graph, DType::bf16, {.convolutions = true}));
  EXPECT_EQ(graph.operations("cast").size(), 3u);  // x, w, and the output
  const Node& norm = *graph.operations("batch_norm").front();
  EXPECT_EQ(norm.types()[0].dtype, DType::bf16);
  EXPECT_EQ(norm.input(1).type().dtype, DType::f32);
}

// Casts bias and residual of a product of codes, but not the format states after them.
TEST(Autocast, LetsProductsOfCodesGiveHalvesWhereAsked) {
  constexpr std::string_view kCoded = R"(%x = input : f32[B, 32]
%r = input : f32[B, 32]
%gamma = parameter gain trainable : f32[32]
%beta = parameter bias trainable : f32[32]
%w.codes = parameter codes frozen : u8[1024]
%w.shared = parameter codes frozen : u8[0]
%b = parameter bias trainable : f32[32]
%t = parameter format_state frozen : f32[32]
%c = encode_rows(%x) {format=int(bits=8,per=token,scale=dynamic)} : u8[B, 76]
%y = native_linear(%c, %w.codes, %w.shared, %b, %r, %t) {format=int(bits=8,per=row,scale=static), shape=[32, 32], arrangement="panels", activation="gelu", residual=true, input_format=int(bits=8,per=token,scale=dynamic)} : f32[B, 32]
%n = layer_norm(%y, %gamma, %beta) {eps=1e-12} : f32[B, 32]
%z = encode_rows(%n) {format=int(bits=8,per=token,scale=dynamic)} : u8[B, 76]
output z = %z
)";
  Graph graph = parse(kCoded);
  EXPECT_FALSE(autocast(graph, DType::bf16));
  EXPECT_TRUE(autocast(graph, DType::bf16, {.codes = true}));
  EXPECT_EQ(graph.operations("cast").size(), 2u);
  EXPECT_EQ(graph.find("y")->types()[0].dtype, DType::bf16);
  EXPECT_EQ(graph.find("n")->types()[0].dtype, DType::bf16);
  EXPECT_EQ(graph.find("c")->inputs()[0].type().dtype, DType::f32);
}

// Gradients have the types of their parameters.
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
