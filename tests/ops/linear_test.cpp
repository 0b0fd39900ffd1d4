#include <gtest/gtest.h>

#include "tests/support/evaluate.h"
#include "tests/support/refusal.h"

namespace hone::testing {
namespace {

TEST(Linear, MultipliesByTheTransposedWeightAndAddsTheBias) {
  const NamedTensors inputs = {{"x", Tensor::of<float>({1, 2, 2}, {1, 2, 3, 4})},
                               {"w", Tensor::of<float>({3, 2}, {1, 0, 0, 1, 10, 100})},
                               {"b", Tensor::of<float>({3}, {0.5, 0.25, 0})}};
  EXPECT_EQ(evaluate(R"(%x = input : f32[B, S, 2]
%w = input : f32[3, 2]
%b = input : f32[3]
%y = linear(%x, %w, %b) : f32[B, S, 3]
output y = %y)",
                     inputs),
            (std::vector<float>{1.5, 2.25, 210, 3.5, 4.25, 430}));
  EXPECT_EQ(evaluate(R"(%x = input : f32[B, S, 2]
%w = input : f32[3, 2]
%y = linear(%x, %w) : f32[B, S, 3]
output y = %y)",
                     inputs),
            (std::vector<float>{1, 2, 210, 3, 4, 430}));
}

// 1e8 + 1 is not an fp32 value. Only a sum in double recovers the 1.
TEST(Linear, AccumulatesInDouble) {
  EXPECT_EQ(evaluate(R"(%x = input : f32[1, 3]
%w = input : f32[1, 3]
%y = linear(%x, %w) : f32[1, 1]
output y = %y)",
                     {{"x", Tensor::of<float>({1, 3}, {1e8f, 1, -1e8f})},
                      {"w", Tensor::of<float>({1, 3}, {1, 1, 1})}}),
            (std::vector<float>{1}));
}

TEST(Linear, ReadsStridedOperands) {
  EXPECT_EQ(evaluate(R"(%x = input : f32[2, 2]
%w = input : f32[2, 2]
%y = linear(%x, %w) : f32[2, 2]
output y = %y)",
                     {{"x", Tensor::of<float>({2, 2}, {1, 2, 3, 4}).transpose({1, 0})},
                      {"w", Tensor::of<float>({2, 2}, {1, 0, 0, 10}).transpose({1, 0})}}),
            (std::vector<float>{1, 30, 2, 40}));
}

TEST(Linear, RefusesOperandsThatDoNotFit) {
  EXPECT_EQ(refusal("linear", {"f32[B, 3]", "f32[4, 5]"}),
            "columns of x against those of the weight: expected 5, got 3");
  EXPECT_EQ(refusal("linear", {"f32[3]", "f32[4, 3]"}),
            "x must have at least 2 dimensions, got f32[3]");
  EXPECT_EQ(refusal("linear", {"f32[B, 3]", "f32[3]"}),
            "weight must have 2 dimensions, got f32[3]");
  EXPECT_EQ(refusal("linear", {"f32[B, 3]", "f32[4, 3]", "f32[3]"}),
            "length of the bias: expected 4, got 3");
  EXPECT_EQ(refusal("linear", {"f32[B, 3]"}), "takes x, weight, bias? inputs, got 1");
  EXPECT_EQ(refusal("linear_weight_gradient", {"f32[B, 3]", "f32[S, 4]"}),
            "x and dy must have the same rows, got f32[B, 3] and f32[S, 4]");
}

}  // namespace
}  // namespace hone::testing
