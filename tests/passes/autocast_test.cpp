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
