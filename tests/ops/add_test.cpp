#include <gtest/gtest.h>

#include "tests/support/evaluate.h"
#include "tests/support/refusal.h"

namespace hone::testing {
namespace {

TEST(Add, BroadcastsBothSides) {
  EXPECT_EQ(evaluate(R"(%a = input : f32[2, 1]
%b = input : f32[3]
%y = add(%a, %b) : f32[2, 3]
output y = %y)",
                     {{"a", Tensor::of<float>({2, 1}, {10, 20})},
                      {"b", Tensor::of<float>({3}, {1, 2, 3})}}),
            (std::vector<float>{11, 12, 13, 21, 22, 23}));
}

TEST(Add, RefusesShapesThatDoNotBroadcast) {
  EXPECT_EQ(refusal("add", {"f32[B, 3]", "f32[1, 3]"}), "no error");
  EXPECT_EQ(refusal("add", {"f32[2, 3]", "f32[2]"}), "shapes [2, 3] and [2] do not broadcast");
  EXPECT_EQ(refusal("add", {"f32[B]", "f32[S]"}), "shapes [B] and [S] do not broadcast");
  EXPECT_EQ(refusal("add", {"f32[2]", "i64[2]"}), "input must be f32, got i64[2]");
}

}  // namespace
}  // namespace hone::testing
