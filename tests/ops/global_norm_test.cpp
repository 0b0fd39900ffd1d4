#include <gtest/gtest.h>

#include "tests/support/evaluate.h"
#include "tests/support/refusal.h"

namespace hone::testing {
namespace {

TEST(GlobalNorm, IsTheRootOfTheSumOfAllSquares) {
  EXPECT_EQ(evaluate(R"(%a = input : f32[2]
%b = input : f32[]
%c = input : f32[2, 1]
%y = global_norm(%a, %b, %c) : f32[]
output y = %y)",
                     {{"a", Tensor::of<float>({2}, {2, -4})},
                      {"b", Tensor::scalar(5.0f)},
                      {"c", Tensor::of<float>({2, 1}, {0, 6})}}),
            (std::vector<float>{9}));
}

// The squares, 1e60 and 1e-60, are not fp32 values.
TEST(GlobalNorm, NeitherOverflowsNorVanishes) {
  constexpr std::string_view text = R"(%a = input : f32[]
%y = global_norm(%a) : f32[]
output y = %y)";
  EXPECT_FLOAT_EQ(evaluate(text, {{"a", Tensor::scalar(1e30f)}})[0], 1e30f);
  EXPECT_FLOAT_EQ(evaluate(text, {{"a", Tensor::scalar(1e-30f)}})[0], 1e-30f);
}

TEST(GlobalNorm, RefusesOtherElementTypes) {
  EXPECT_EQ(refusal("global_norm", {"f32[4]", "f64[4]"}), "input must be f32, got f64[4]");
}

}  // namespace
}  // namespace hone::testing
