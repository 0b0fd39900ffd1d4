#include <gtest/gtest.h>

#include "tests/support/evaluate.h"
#include "tests/support/refusal.h"

namespace hone::testing {
namespace {

TEST(Mul, BroadcastsBothSides) {
  EXPECT_EQ(evaluate(R"(%a = input : f32[2, 1]
%b = input : f32[3]
%y = mul(%a, %b) : f32[2, 3]
output y = %y)",
                     {{"a", Tensor::of<float>({2, 1}, {10, -1})},
                      {"b", Tensor::of<float>({3}, {1, 2, 3})}}),
            (std::vector<float>{10, 20, 30, -1, -2, -3}));
}

TEST(Mul, RefusesShapesThatDoNotBroadcast) {
  EXPECT_EQ(refusal("mul", {"f32[B, 3]", "f32[B]"}), "shapes [B, 3] and [B] do not broadcast");
  EXPECT_EQ(refusal("mul", {"f32[2]"}), "takes a, b inputs, got 1");
}

}  // namespace
}  // namespace hone::testing
