#include <gtest/gtest.h>

#include "tests/support/evaluate.h"
#include "tests/support/refusal.h"

namespace hone::testing {
namespace {

TEST(Matmul, MultipliesMatrices) {
  EXPECT_EQ(evaluate(R"(%a = input : f32[2, 3]
%b = input : f32[3, 2]
%y = matmul(%a, %b) : f32[2, 2]
output y = %y)",
                     {{"a", Tensor::of<float>({2, 3}, {1, 2, 3, 4, 5, 6})},
                      {"b", Tensor::of<float>({3, 2}, {1, 0, 0, 1, 10, 100})}}),
            (std::vector<float>{31, 302, 64, 605}));
}

TEST(Matmul, BroadcastsLeadingDimensions) {
  EXPECT_EQ(evaluate(R"(%a = input : f32[2, 1, 1, 2]
%b = input : f32[2, 2, 1]
%y = matmul(%a, %b) : f32[2, 2, 1, 1]
output y = %y)",
                     {{"a", Tensor::of<float>({2, 1, 1, 2}, {1, 2, 3, 4})},
                      {"b", Tensor::of<float>({2, 2, 1}, {1, 10, 100, 1000})}}),
            (std::vector<float>{21, 2100, 43, 4300}));
}

TEST(Matmul, ReadsStridedOperands) {
  EXPECT_EQ(evaluate(R"(%a = input : f32[2, 3]
%b = input : f32[3, 1]
%y = matmul(%a, %b) : f32[2, 1]
output y = %y)",
                     {{"a", Tensor::of<float>({3, 2}, {1, 2, 3, 4, 5, 6}).transpose({1, 0})},
                      {"b", Tensor::of<float>({3, 2}, {1, -1, 10, -1, 100, -1}).slice(1, 0, 1)}}),
            (std::vector<float>{531, 642}));
}

TEST(Matmul, RefusesOperandsThatDoNotFit) {
  EXPECT_EQ(refusal("matmul", {"f32[2, 3]", "f32[4, 2]"}),
            "rows of b against columns of a: expected 3, got 4");
  EXPECT_EQ(refusal("matmul", {"f32[3]", "f32[3, 2]"}),
            "a and b must be matrices or stacks of them, got f32[3] and f32[3, 2]");
  EXPECT_EQ(refusal("matmul", {"f32[2, 1, 3]", "f32[4, 3, 1]"}),
            "shapes [2] and [4] do not broadcast");
  EXPECT_EQ(refusal("matmul", {"f32[2, 3]", "i8[3, 2]"}), "b must be f32, got i8[3, 2]");
}

}  // namespace
}  // namespace hone::testing
