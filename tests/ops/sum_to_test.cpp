#include <gtest/gtest.h>

#include "tests/support/evaluate.h"
#include "tests/support/refusal.h"

namespace hone::testing {
namespace {

std::vector<float> sum_to(const std::string& shape) {
  const std::string text = fmt::format(R"(%x = input : f32[2, 3]
%y = sum_to(%x) {{shape={0}}} : f32{0}
output y = %y)",
                                       shape);
  return evaluate(text, {{"x", Tensor::of<float>({2, 3}, {1, 2, 3, 40, 50, 60})}});
}

TEST(SumTo, SumsOverTheStretchedAxes) {
  EXPECT_EQ(sum_to("[]"), (std::vector<float>{156}));
  EXPECT_EQ(sum_to("[3]"), (std::vector<float>{41, 52, 63}));
  EXPECT_EQ(sum_to("[2, 1]"), (std::vector<float>{6, 150}));
  EXPECT_EQ(sum_to("[2, 3]"), (std::vector<float>{1, 2, 3, 40, 50, 60}));
}

TEST(SumTo, AccumulatesInDouble) {
  EXPECT_EQ(evaluate(R"(%x = input : f32[3]
%y = sum_to(%x) {shape=[]} : f32[]
output y = %y)",
                     {{"x", Tensor::of<float>({3}, {1e8f, 1, -1e8f})}}),
            (std::vector<float>{1}));
}

TEST(SumTo, RefusesShapesThatDoNotBroadcastToTheInput) {
  EXPECT_EQ(refusal("sum_to", {"f32[B, 3]"}, "shape=[B, 1]"), "no error");
  EXPECT_EQ(refusal("sum_to", {"f32[2, 3]"}, "shape=[2]"),
            "shapes [2] and [2, 3] do not broadcast");
  EXPECT_EQ(refusal("sum_to", {"f32[1, 3]"}, "shape=[2, 3]"),
            "[2, 3] does not broadcast to f32[1, 3]");
  EXPECT_EQ(refusal("sum_to", {"i64[3]"}, "shape=[]"), "x must be f32, bf16 or f16, got i64[3]");
}

}  // namespace
}  // namespace hone::testing
