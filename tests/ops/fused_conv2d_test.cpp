#include <gtest/gtest.h>

#include "tests/support/evaluate.h"
#include "tests/support/refusal.h"

namespace hone::testing {
namespace {

// Convolution results 1 2 3 4, bias -3, residual 1. The activation comes last.
TEST(FusedConv2d, AddsBiasAndResidualInFrontOfTheActivation) {
  constexpr std::string_view text = R"(%x = input : f32[1, 1, 2, 2]
%w = input : f32[1, 1, 1, 1]
%b = input : f32[1]
%r = input : f32[1, 1, 2, 2]
%y = fused_conv2d(%x, %w, %b, %r) {activation="relu"} : f32[1, 1, 2, 2]
output y = %y)";
  EXPECT_EQ(evaluate(text, {{"x", Tensor::of<float>({1, 1, 2, 2}, {1, 2, 3, 4})},
                            {"w", Tensor::of<float>({1, 1, 1, 1}, {1})},
                            {"b", Tensor::of<float>({1}, {-3})},
                            {"r", Tensor::of<float>({1, 1, 2, 2}, {1, 1, 1, 1})}}),
            (std::vector<float>{0, 0, 1, 2}));
}

TEST(FusedConv2d, RefusesOperandsThatDoNotFit) {
  EXPECT_EQ(refusal("fused_conv2d", {"f32[B, 3, 8, 8]", "f32[4, 3, 3, 3]", "f32[4]"},
                    "activation=\"swish\""),
            "activation must be none, relu, gelu, gelu_tanh or tanh, got \"swish\"");
  EXPECT_EQ(
      refusal("fused_conv2d", {"f32[B, 3, 8, 8]", "f32[4, 3, 3, 3]", "f32[4]", "f32[B, 4, 8, 8]"}),
      "the residual must be f32[B, 4, 6, 6], as the result, got f32[B, 4, 8, 8]");
}

}  // namespace
}  // namespace hone::testing
