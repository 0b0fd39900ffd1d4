#include <gtest/gtest.h>

#include "tests/support/evaluate.h"
#include "tests/support/refusal.h"

namespace hone::testing {
namespace {

// Padding is ignored, not read as zero.
TEST(MaxPool2d, TakesTheLargestOfEachWindow) {
  constexpr std::string_view text = R"(%x = input : f32[1, 1, 3, 3]
%y = max_pool2d(%x) {kernel=3, stride=2, padding=1} : f32[1, 1, 2, 2]
output y = %y)";
  EXPECT_EQ(
      evaluate(text,
               {{"x", Tensor::of<float>({1, 1, 3, 3}, {-9, -8, -7, -6, -5, -4, -3, -2, -1})}}),
      (std::vector<float>{-5, -4, -2, -1}));
}

TEST(MaxPool2d, GivesItsGradientToTheFirstOfEqualOnes) {
  constexpr std::string_view text = R"(%x = input : f32[1, 1, 2, 3]
%dy = input : f32[1, 1, 1, 2]
%y = max_pool2d_gradient(%x, %dy) {kernel=2} : f32[1, 1, 2, 3]
output y = %y)";
  EXPECT_EQ(evaluate(text, {{"x", Tensor::of<float>({1, 1, 2, 3}, {0, 5, 1, 5, 2, 3})},
                            {"dy", Tensor::of<float>({1, 1, 1, 2}, {10, 1})}}),
            (std::vector<float>{0, 11, 0, 0, 0, 0}));
}

TEST(MaxPool2d, RefusesWindowsThatDoNotFit) {
  EXPECT_EQ(refusal("max_pool2d", {"f32[B, 3, 8, 8]"}, "kernel=3, stride=2, padding=1"),
            "no error");
  EXPECT_EQ(refusal("max_pool2d", {"f32[B, 3, 8, 8]"}, "kernel=3, padding=2"),
            "padding must be from 0 to half the kernel, 1, got 2");
  EXPECT_EQ(refusal("max_pool2d", {"f32[B, 3, 2, 8]"}, "kernel=3"),
            "the window of 3 is larger than the padded images f32[B, 3, 2, 8]");
  EXPECT_EQ(refusal("max_pool2d", {"f32[B, 3, 8, 8]"}, "kernel=3, stride=0"),
            "kernel and stride must be 1 or more, got 3 and 0");
}

}  // namespace
}  // namespace hone::testing
