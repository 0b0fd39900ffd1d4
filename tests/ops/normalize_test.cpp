#include <gtest/gtest.h>

#include "tests/support/evaluate.h"
#include "tests/support/refusal.h"

namespace hone::testing {
namespace {

TEST(Normalize, GivesEveryRowTheLengthOne) {
  constexpr std::string_view text = R"(%x = input : f32[B, 2]
%y = normalize(%x) : f32[B, 2]
output y = %y)";
  const std::vector<float> y = evaluate(text, {{"x", Tensor::of<float>({3, 2}, {3, -4,  //
                                                                                0, 0,   //
                                                                                3e30f, 4e30f})}});
  EXPECT_FLOAT_EQ(y[0], 0.6f);
  EXPECT_FLOAT_EQ(y[1], -0.8f);
  EXPECT_EQ(y[2], 0);
  EXPECT_EQ(y[3], 0);
  EXPECT_FLOAT_EQ(y[4], 0.6f);  // although the squares exceed fp32
  EXPECT_FLOAT_EQ(y[5], 0.8f);
}

TEST(Normalize, DividesShortRowsByEps) {
  EXPECT_EQ(evaluate(R"(%x = input : f32[1, 2]
%y = normalize(%x) {eps=2.0} : f32[1, 2]
output y = %y)",
                     {{"x", Tensor::of<float>({1, 2}, {0.5f, 1})}}),
            (std::vector<float>{0.25f, 0.5f}));
}

TEST(Normalize, RefusesOtherInputs) {
  EXPECT_EQ(refusal("normalize", {"i64[B, 4]"}), "input must be f32, bf16 or f16, got i64[B, 4]");
  EXPECT_EQ(refusal("normalize", {"f32[]"}), "normalize needs an axis to run over");
  EXPECT_EQ(refusal("normalize", {"f32[4]"}, "eps=0.0"), "eps must be above 0, got 0");
  EXPECT_EQ(refusal("normalize_gradient", {"f32[B, 4]", "f32[B, 5]"}),
            "inputs must have one shape, got f32[B, 4] and f32[B, 5]");
}

}  // namespace
}  // namespace hone::testing
