#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/support/evaluate.h"
#include "tests/support/refusal.h"

namespace hone::testing {
namespace {

float loss(const std::vector<float>& predictions, const std::vector<float>& targets,
           const Sizes& sizes) {
  return evaluate(
      fmt::format(R"(%p = input : f32[{0}]
%t = input : f32[{0}]
%y = mean_squared_error(%p, %t) : f32[]
output y = %y)",
                  fmt::join(sizes, ", ")),
      {{"p", Tensor::of<float>(sizes, predictions)}, {"t", Tensor::of<float>(sizes, targets)}})[0];
}

TEST(MeanSquaredError, IsTheMeanOverAllElements) {
  EXPECT_FLOAT_EQ(loss({1, 2, 4}, {1, 4, 1}, {3}), 13.0f / 3);
  EXPECT_FLOAT_EQ(loss({1, 2, 4, 0}, {1, 4, 1, 1}, {2, 2}), 14.0f / 4);
}

TEST(MeanSquaredError, KeepsSmallErrorsOfLargeNumbers) {
  EXPECT_EQ(loss({16777216.0f, 1e8f}, {16777214.0f, 1e8f}, {2}), 2);
}

TEST(MeanSquaredError, OfPredictionsThatAreNoNumbersIsNone) {
  EXPECT_TRUE(std::isnan(loss({std::nanf(""), 2}, {1, 2}, {2})));
}

TEST(MeanSquaredError, RefusesTargetsThatAreNoNumbers) {
  const std::string where = "while executing %y (mean_squared_error): ";
  EXPECT_EQ(message_of([] {
              loss({1, 2}, {1, std::nanf("")}, {2});
            }),
            where + "target nan is not a finite number");
  EXPECT_EQ(message_of([] { loss({1}, {std::numeric_limits<float>::infinity()}, {1}); }),
            where + "target inf is not a finite number");
}

TEST(MeanSquaredError, RefusesOperandsThatDoNotFit) {
  EXPECT_EQ(refusal("mean_squared_error", {"f32[B, 1]", "f32[B]"}),
            "targets must have the shape of the predictions, f32[B, 1], got f32[B]");
  EXPECT_EQ(refusal("mean_squared_error", {"i64[B]", "f32[B]"}),
            "predictions must be f32, got i64[B]");
  EXPECT_EQ(refusal("mean_squared_error", {"f32[B]", "i64[B]"}), "targets must be f32, got i64[B]");
  EXPECT_EQ(refusal("mean_squared_error_gradient", {"f32[B]", "f32[B]", "f32[B]"}),
            "dloss must have 0 dimensions, got f32[B]");
}

}  // namespace
}  // namespace hone::testing
