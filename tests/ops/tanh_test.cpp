#include <gtest/gtest.h>

#include "tests/support/evaluate.h"
#include "tests/support/refusal.h"

namespace hone::testing {
namespace {

TEST(Tanh, IsTheHyperbolicTangent) {
  const std::vector<float> y = evaluate(R"(%x = input : f32[4]
%y = tanh(%x) : f32[4]
output y = %y)",
                                        {{"x", Tensor::of<float>({4}, {0, 0.5, -1, 50})}});
  EXPECT_EQ(y[0], 0);
  EXPECT_FLOAT_EQ(y[1], 0.46211715726f);
  EXPECT_FLOAT_EQ(y[2], -0.76159415595f);
  EXPECT_EQ(y[3], 1);
}

TEST(Tanh, RefusesOtherElementTypesAndShapes) {
  EXPECT_EQ(refusal("tanh", {"i64[B]"}), "input must be f32, bf16 or f16, got i64[B]");
  EXPECT_EQ(refusal("tanh_gradient", {"f32[B]", "f32[S]"}),
            "inputs must have one shape, got f32[B] and f32[S]");
}

}  // namespace
}  // namespace hone::testing
