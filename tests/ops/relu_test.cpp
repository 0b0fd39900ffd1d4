#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/evaluate.h"
#include "tests/support/refusal.h"

namespace hone::testing {
namespace {

TEST(Relu, KeepsWhatIsPositive) {
  const std::vector<float> y = evaluate(R"(%x = input : f32[4]
%y = relu(%x) : f32[4]
output y = %y)",
                                        {{"x", Tensor::of<float>({4}, {-1, 0, 2, NAN})}});
  EXPECT_EQ(std::vector<float>(y.begin(), y.begin() + 3), (std::vector<float>{0, 0, 2}));
  EXPECT_TRUE(std::isnan(y[3]));
}

TEST(Relu, GradientAtZeroIsZero) {
  EXPECT_EQ(evaluate(R"(%y0 = input : f32[3]
%dy = input : f32[3]
%y = relu_gradient(%y0, %dy) : f32[3]
output y = %y)",
                     {{"y0", Tensor::of<float>({3}, {0, 2, 0})},
                      {"dy", Tensor::of<float>({3}, {5, 6, 7})}}),
            (std::vector<float>{0, 6, 0}));
}

TEST(Relu, RefusesOtherElementTypesAndShapes) {
  EXPECT_EQ(refusal("relu", {"i64[B]"}), "input must be f32, bf16 or f16, got i64[B]");
  EXPECT_EQ(refusal("relu_gradient", {"f32[B]", "f32[]"}),
            "inputs must have one shape, got f32[B] and f32[]");
}

}  // namespace
}  // namespace hone::testing
