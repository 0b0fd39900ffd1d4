#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/evaluate.h"
#include "tests/support/refusal.h"

namespace hone::testing {
namespace {

TEST(Threshold, CutsMagnitudesBelowIt) {
  const std::vector<float> y = evaluate(
      R"(%x = input : f32[5]
%least = input : f32[]
%y = threshold(%x, %least) : f32[5]
output y = %y)",
      {{"x", Tensor::of<float>({5}, {-1, 0.5f, -0.25f, 2, NAN})}, {"least", Tensor::scalar(0.5f)}});
  EXPECT_EQ(std::vector<float>(y.begin(), y.begin() + 4), (std::vector<float>{-1, 0.5f, 0, 2}));
  EXPECT_TRUE(std::isnan(y[4]));
}

TEST(Threshold, LetsGradientsThroughWhereValuesGo) {
  EXPECT_EQ(evaluate(R"(%x = input : f32[3]
%dy = input : f32[3]
%least = input : f32[]
%y = threshold_gradient(%x, %dy, %least) : f32[3]
output y = %y)",
                     {{"x", Tensor::of<float>({3}, {0.4f, -0.5f, 3})},
                      {"dy", Tensor::of<float>({3}, {5, 6, 7})},
                      {"least", Tensor::scalar(0.5f)}}),
            (std::vector<float>{0, 6, 7}));
}

TEST(Threshold, RefusesOtherElementTypesAndShapes) {
  EXPECT_EQ(refusal("threshold", {"i64[B]", "f32[]"}), "x must be f32, got i64[B]");
  EXPECT_EQ(refusal("threshold", {"f32[B]", "f32[B]"}), "least must be f32[], got f32[B]");
  EXPECT_EQ(refusal("threshold_gradient", {"f32[B]", "f32[]", "f32[]"}),
            "dy must be like x, f32[B], got f32[]");
}

}  // namespace
}  // namespace hone::testing
