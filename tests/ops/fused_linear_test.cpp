#include <gtest/gtest.h>

#include <cmath>

#include "hone/analysis/cost.h"
#include "tests/support/evaluate.h"
#include "tests/support/refusal.h"

namespace hone::testing {
namespace {

// x (1, 2) is (1, 2); the rows of the weight give 3 and -1 with the bias.
std::vector<float> activated(const std::string& attributes) {
  return evaluate(fmt::format(R"(%x = input : f32[1, 2]
%w = input : f32[2, 2]
%b = input : f32[2]
%r = input : f32[1, 2]
%y = fused_linear(%x, %w, %b, %r) {{{}}} : f32[1, 2]
output y = %y)",
                              attributes),
                  {{"x", Tensor::of<float>({1, 2}, {1, 2})},
                   {"w", Tensor::of<float>({2, 2}, {1, 0, 0, 1})},
                   {"b", Tensor::of<float>({2}, {2, -3})},
                   {"r", Tensor::of<float>({1, 2}, {10, 20})}});
}

TEST(FusedLinear, AddsTheResidualToTheActivationOfTheLinear) {
  EXPECT_EQ(activated(""), (std::vector<float>{13, 19}));
  EXPECT_EQ(activated("activation=\"relu\""), (std::vector<float>{13, 20}));
  const float tanh1 = std::tanh(1.0f), tanh3 = std::tanh(3.0f);
  EXPECT_NEAR(activated("activation=\"tanh\"")[0], 10 + tanh3, 1e-6);
  EXPECT_NEAR(activated("activation=\"tanh\"")[1], 20 - tanh1, 2e-6);
  // 3 Phi(3) and -Phi(-1)
  EXPECT_NEAR(activated("activation=\"gelu\"")[0], 10 + 3 * 0.998650102, 1e-6);
  EXPECT_NEAR(activated("activation=\"gelu\"")[1], 20 - 0.158655254, 2e-6);
  EXPECT_NEAR(activated("activation=\"gelu_tanh\"")[1], 20 - 0.158808, 2e-6);
}

TEST(FusedLinear, RefusesOperandsThatDoNotFit) {
  const std::string x = "f32[B, 4]", w = "f32[3, 4]", b = "f32[3]";
  EXPECT_EQ(refusal("fused_linear", {x, w, b}), "no error");
  EXPECT_EQ(refusal("fused_linear", {x, w, b, "f32[B, 3]"}), "no error");
  EXPECT_EQ(refusal("fused_linear", {x, "f32[3, 5]", b}),
            "columns of x against those of the weight: expected 5, got 4");
  EXPECT_EQ(refusal("fused_linear", {x, w, "f32[4]"}), "length of the bias: expected 3, got 4");
  EXPECT_EQ(refusal("fused_linear", {"f32[4]", w, b}),
            "x must have at least 2 dimensions, got f32[4]");
  EXPECT_EQ(refusal("fused_linear", {x, w, "i64[3]"}), "input must be f32, got i64[3]");
  EXPECT_EQ(refusal("fused_linear", {x, w, b, "f32[3]"}),
            "the residual must be f32[B, 3], as the result, got f32[3]");
  EXPECT_EQ(refusal("fused_linear", {x, w, b}, "activation=\"swish\""),
            "activation must be none, relu, gelu, gelu_tanh or tanh, got \"swish\"");
}

TEST(FusedLinear, CountsTheOperationsOfItsSteps) {
  const std::string inputs =
      "%x = input : f32[5, 4]\n%w = input : f32[3, 4]\n%b = input : f32[3]\n%r = input : f32[5, "
      "3]\n";
  const Graph fused =
      parse(inputs +
            "%y = fused_linear(%x, %w, %b, %r) {activation=\"relu\"} : f32[5, 3]\noutput y = %y\n");
  const Graph steps = parse(inputs + R"(%z = linear(%x, %w, %b) : f32[5, 3]
%a = relu(%z) : f32[5, 3]
%y = add(%a, %r) : f32[5, 3]
output y = %y
)");
  EXPECT_EQ(cost(fused, {}).flops, cost(steps, {}).flops);
}

}  // namespace
}  // namespace hone::testing
