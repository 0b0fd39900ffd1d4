#include <gtest/gtest.h>

#include "tests/support/evaluate.h"
#include "tests/support/refusal.h"

namespace hone::testing {
namespace {

TEST(Quantize, GivesTheNearestValueOfTheFormat) {
  EXPECT_EQ(
      evaluate(R"(%x = input : f32[2, 2]
%y = quantize(%x) {format=integer(width=4,frac=1)} : f32[2, 2]
output y = %y)",
               {{"x", Tensor::of<float>({2, 2}, {0.3f, -0.8f, 100, -100}).transpose({1, 0})}}),
      (std::vector<float>{0.5, 3.5, -1, -4}));
}

TEST(Quantize, ReadsTheStateOfTheFormat) {
  constexpr std::string_view text = R"(%x = input : f32[2]
%frac = input : f32[]
%y = quantize(%x, %frac) {format=integer(width=8,frac=auto)} : f32[2]
output y = %y)";
  const Tensor x = Tensor::of<float>({2}, {0.3f, -0.8f});
  EXPECT_EQ(evaluate(text, {{"x", x}, {"frac", Tensor::scalar(1.0f)}}),
            (std::vector<float>{0.5, -1}));
  EXPECT_EQ(evaluate(text, {{"x", x}, {"frac", Tensor::scalar(2.0f)}}),
            (std::vector<float>{0.25, -0.75}));
}

TEST(Quantize, RefusesWrongStateAndFormat) {
  EXPECT_EQ(refusal("quantize", {"f32[4]"}), "needs the attribute 'format'");
  EXPECT_EQ(refusal("quantize", {"f32[4]"}, "format=8"),
            "format must be a number format such as integer(width=8,frac=4)");
  EXPECT_EQ(refusal("quantize", {"f32[4]", "f32[]"}, "format=integer(width=8,frac=4)"),
            "integer(width=8,frac=4) takes 0 state tensors, got 1");
  EXPECT_EQ(refusal("quantize", {"f32[4]"}, "format=integer(width=8)"),
            "integer(width=8,frac=auto) takes 1 state tensors, got 0");
  EXPECT_EQ(refusal("quantize", {"f32[4]", "f32[1]"}, "format=integer(width=8)"),
            "state frac must be f32[], got f32[1]");
  EXPECT_EQ(refusal("quantize", {"i64[4]"}, "format=integer(width=8,frac=4)"),
            "x must be f32, got i64[4]");
}

}  // namespace
}  // namespace hone::testing
