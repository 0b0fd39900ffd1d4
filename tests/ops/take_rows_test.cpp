#include <gtest/gtest.h>

#include "tests/support/evaluate.h"
#include "tests/support/refusal.h"

namespace hone::testing {
namespace {

TEST(TakeRows, TakesOneTokenOfEachText) {
  EXPECT_EQ(evaluate(R"(%x = input : f32[1, 4, 2]
%rows = input : i64[3]
%y = take_rows(%x, %rows) : f32[3, 1, 2]
output y = %y)",
                     {{"x", Tensor::of<float>({1, 4, 2}, {1, 2, 3, 4, 5, 6, 7, 8})},
                      {"rows", Tensor::of<std::int64_t>({3}, {0, 3, 0})}}),
            (std::vector<float>{1, 2, 7, 8, 1, 2}));
}

TEST(TakeRows, GivesItsGradientToTheTokensThatWereTaken) {
  EXPECT_EQ(evaluate(R"(%rows = input : i64[3]
%dy = input : f32[3, 1, 2]
%y = take_rows_gradient(%rows, %dy) {shape=[1, 4, 2]} : f32[1, 4, 2]
output y = %y)",
                     {{"dy", Tensor::of<float>({3, 1, 2}, {1, 2, 3, 4, 5, 6})},
                      {"rows", Tensor::of<std::int64_t>({3}, {0, 3, 0})}}),
            (std::vector<float>{6, 8, 0, 0, 0, 0, 3, 4}));
}

TEST(TakeRows, RefusesOperandsThatDoNotFit) {
  EXPECT_EQ(refusal("take_rows", {"f32[1, T, 4]", "i64[B]"}), "no error");
  EXPECT_EQ(refusal("take_rows", {"f32[B, T, 4]", "i64[B]"}), "texts of x: expected 1, got B");
  EXPECT_EQ(refusal("take_rows", {"f32[1, T, 4]", "f32[B]"}), "rows must be i64, got f32[B]");
  EXPECT_EQ(refusal("take_rows_gradient", {"i64[B]", "f32[B, 1, 4]"}, "shape=[1, T, 4]"),
            "no error");
  EXPECT_EQ(refusal("take_rows_gradient", {"i64[B]", "f32[B, 1, 5]"}, "shape=[1, T, 4]"),
            "dy: expected f32[B, 1, 4], got f32[B, 1, 5]");
}

}  // namespace
}  // namespace hone::testing
