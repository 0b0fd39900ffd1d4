#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/evaluate.h"
#include "tests/support/refusal.h"

namespace hone::testing {
namespace {

std::vector<float> gelu(const std::string& approximate, const std::vector<float>& x) {
  return evaluate(fmt::format(R"(%x = input : f32[T]
%y = gelu(%x) {{approximate="{}"}} : f32[T]
output y = %y)",
                              approximate),
                  {{"x", Tensor::of<float>({static_cast<std::int64_t>(x.size())}, x)}});
}

// x Phi(x) with Phi(1) = 0.841344746..., Phi(-3) = 0.001349898...
TEST(Gelu, IsXTimesTheNormalDistribution) {
  const std::vector<float> y = gelu("none", {0, 1, -3, 20, -20});
  EXPECT_EQ(y[0], 0);
  EXPECT_FLOAT_EQ(y[1], static_cast<float>(0.8413447460685429));
  EXPECT_FLOAT_EQ(y[2], static_cast<float>(-3 * 0.0013498980316300933));
  EXPECT_EQ(y[3], 20);
  EXPECT_NEAR(y[4], 0, 1e-30);
}

TEST(Gelu, ByTanhIsTheFormulaOfBert) {
  const double inner = std::sqrt(2 / std::acos(-1.0)) * (1 + 0.044715);
  EXPECT_FLOAT_EQ(gelu("tanh", {1})[0], static_cast<float>(0.5 * (1 + std::tanh(inner))));
  EXPECT_NE(gelu("tanh", {1}), gelu("none", {1}));
  EXPECT_NEAR(gelu("tanh", {1})[0], gelu("none", {1})[0], 1e-3);
}

TEST(Gelu, RefusesOtherApproximations) {
  EXPECT_EQ(refusal("gelu", {"f32[4]"}, "approximate=\"quick\""),
            "approximate must be \"none\" or \"tanh\", got \"quick\"");
  EXPECT_EQ(refusal("gelu", {"i64[4]"}), "input must be f32, bf16 or f16, got i64[4]");
  EXPECT_EQ(refusal("gelu_gradient", {"f32[4]", "f32[4, 4]"}),
            "inputs must have one shape, got f32[4] and f32[4, 4]");
}

}  // namespace
}  // namespace hone::testing
