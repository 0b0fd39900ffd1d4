#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/support/evaluate.h"
#include "tests/support/refusal.h"

namespace hone::testing {
namespace {

std::vector<float> softmax(const std::vector<float>& row) {
  const std::int64_t length = static_cast<std::int64_t>(row.size());
  return evaluate(R"(%x = input : f32[B, C]
%y = softmax(%x) : f32[B, C]
output y = %y)",
                  {{"x", Tensor::of<float>({1, length}, row)}});
}

TEST(Softmax, IsTheShareOfTheExponentials) {
  const std::vector<float> y = softmax({0, std::log(2.0f), std::log(5.0f)});
  EXPECT_FLOAT_EQ(y[0], 0.125f);
  EXPECT_FLOAT_EQ(y[1], 0.25f);
  EXPECT_FLOAT_EQ(y[2], 0.625f);
}

TEST(Softmax, GivesMaskedPlacesExactlyZero) {
  const float lowest = std::numeric_limits<float>::lowest();
  EXPECT_EQ(softmax({1, lowest, 1, lowest}), (std::vector<float>{0.5, 0, 0.5, 0}));
}

TEST(Softmax, SurvivesLargeInputs) {
  EXPECT_EQ(softmax({1e30f, 1e30f}), (std::vector<float>{0.5, 0.5}));
  EXPECT_EQ(softmax({1e30f, -1e30f}), (std::vector<float>{1, 0}));
}

TEST(Softmax, RefusesScalars) {
  EXPECT_EQ(refusal("softmax", {"f32[]"}), "softmax needs an axis to run over");
  EXPECT_EQ(refusal("softmax", {"f64[4]"}), "input must be f32, bf16 or f16, got f64[4]");
  EXPECT_EQ(refusal("softmax_gradient", {"f32[4]", "f32[3]"}),
            "inputs must have one shape, got f32[4] and f32[3]");
}

}  // namespace
}  // namespace hone::testing
