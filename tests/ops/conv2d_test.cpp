#include <gtest/gtest.h>

#include "tests/support/evaluate.h"
#include "tests/support/refusal.h"

namespace hone::testing {
namespace {

TEST(Conv2d, SumsWhatAWindowSees) {
  constexpr std::string_view text = R"(%x = input : f32[1, 1, 3, 3]
%w = input : f32[2, 1, 2, 2]
%b = input : f32[2]
%y = conv2d(%x, %w, %b) : f32[1, 2, 2, 2]
output y = %y)";
  EXPECT_EQ(evaluate(text, {{"x", Tensor::of<float>({1, 1, 3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9})},
                            {"w", Tensor::of<float>({2, 1, 2, 2}, {1, 0, 0, 1, 0, 10, 0, 0})},
                            {"b", Tensor::of<float>({2}, {0, 100})}}),
            (std::vector<float>{6, 8, 12, 14, 120, 130, 150, 160}));
}

// Windows begin at -1 and 1. Only the last row and column of the first window lie inside.
TEST(Conv2d, TakesPaddingForZerosAndMovesByItsStride) {
  constexpr std::string_view text = R"(%x = input : f32[1, 1, 3, 3]
%w = input : f32[1, 1, 2, 2]
%y = conv2d(%x, %w) {stride=2, padding=1} : f32[1, 1, 2, 2]
output y = %y)";
  EXPECT_EQ(evaluate(text, {{"x", Tensor::of<float>({1, 1, 3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9})},
                            {"w", Tensor::of<float>({1, 1, 2, 2}, {1, 1, 1, 1})}}),
            (std::vector<float>{1, 5, 11, 28}));
}

TEST(Conv2d, ReadsTheChannelsOfItsGroupAndSkipsBetweenTaps) {
  constexpr std::string_view text = R"(%x = input : f32[1, 2, 3, 3]
%w = input : f32[2, 1, 2, 2]
%y = conv2d(%x, %w) {dilation=2, groups=2} : f32[1, 2, 1, 1]
output y = %y)";
  EXPECT_EQ(evaluate(text, {{"x", Tensor::of<float>({1, 2, 3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9,  //
                                                                   1, 1, 1, 1, 1, 1, 1, 1, 2})},
                            {"w", Tensor::of<float>({2, 1, 2, 2}, {1, 1, 1, 1, 1, 0, 0, 1})}}),
            (std::vector<float>{1 + 3 + 7 + 9, 3}));
}

TEST(Conv2d, RefusesOperandsThatDoNotFit) {
  EXPECT_EQ(refusal("conv2d", {"f32[B, 3, 8, 8]", "f32[4, 3, 3, 3]", "f32[4]"}), "no error");
  EXPECT_EQ(refusal("conv2d", {"f32[B, 3, S, 8]", "f32[4, 3, 3, 3]"}),
            "x must have known channels, height and width, got f32[B, 3, S, 8]");
  EXPECT_EQ(refusal("conv2d", {"f32[B, 3, 8]", "f32[4, 3, 3, 3]"}),
            "x must have 4 dimensions, got f32[B, 3, 8]");
  EXPECT_EQ(refusal("conv2d", {"f32[B, 3, 8, 8]", "f32[4, 2, 3, 3]"}),
            "channels of the weight: expected 3, got 2");
  EXPECT_EQ(refusal("conv2d", {"f32[B, 3, 8, 8]", "f32[4, 3, 3, 3]"}, "groups=2"),
            "groups must divide the 3 channels of x and the 4 of the result, got 2");
  EXPECT_EQ(refusal("conv2d", {"f32[B, 3, 8, 8]", "f32[4, 3, 3, 3]"}, "stride=0"),
            "stride must be from 1 to 65536, got 0");
  EXPECT_EQ(refusal("conv2d", {"f32[B, 3, 2, 8]", "f32[4, 3, 3, 3]"}),
            "the weight f32[4, 3, 3, 3] is larger than the padded images f32[B, 3, 2, 8]");
  EXPECT_EQ(refusal("conv2d", {"f32[B, 3, 8, 8]", "f32[4, 3, 3, 3]", "f32[3]"}),
            "length of the bias: expected 4, got 3");
  EXPECT_EQ(refusal("conv2d", {"bf16[B, 3, 8, 8]", "f32[4, 3, 3, 3]"}),
            "weight must be bf16, got f32[4, 3, 3, 3]");
}

TEST(Conv2d, RefusesGradientsOfAnotherShape) {
  EXPECT_EQ(refusal("conv2d_input_gradient", {"f32[4, 3, 3, 3]", "f32[B, 4, 6, 6]"},
                    "shape=[B, 3, 8, 8]"),
            "no error");
  EXPECT_EQ(refusal("conv2d_input_gradient", {"f32[4, 3, 3, 3]", "f32[B, 4, 6, 5]"},
                    "shape=[B, 3, 8, 8]"),
            "dy must be f32[B, 4, 6, 6], got f32[B, 4, 6, 5]");
  EXPECT_EQ(refusal("conv2d_weight_gradient", {"f32[B, 3, 8, 8]", "f32[B, 4, 6, 6]"},
                    "shape=[4, 3, 5, 3]"),
            "dy must be f32[B, 4, 4, 6], got f32[B, 4, 6, 6]");
}

}  // namespace
}  // namespace hone::testing
