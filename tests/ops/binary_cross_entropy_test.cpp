#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/evaluate.h"
#include "tests/support/refusal.h"

namespace hone::testing {
namespace {

float binary_loss(const std::vector<float>& logits, const std::vector<float>& targets) {
  const Sizes sizes = {1, static_cast<std::int64_t>(logits.size())};
  return evaluate(
      R"(%x = input : f32[B, C]
%t = input : f32[B, C]
%y = binary_cross_entropy(%x, %t) : f32[]
output y = %y)",
      {{"x", Tensor::of<float>(sizes, logits)}, {"t", Tensor::of<float>(sizes, targets)}})[0];
}

TEST(BinaryCrossEntropy, IsTheMeanOverAllAnswers) {
  const double first = std::log1p(std::exp(-2.0)), second = std::log1p(std::exp(3.0));
  EXPECT_FLOAT_EQ(binary_loss({2, 3}, {1, 0}), static_cast<float>((first + second) / 2));
  EXPECT_FLOAT_EQ(binary_loss({0}, {0.25f}), static_cast<float>(std::log(2.0)));
  // Fractional targets weigh both classes.
  EXPECT_FLOAT_EQ(binary_loss({2}, {0.25f}),
                  static_cast<float>(0.25 * first + 0.75 * std::log1p(std::exp(2.0))));
}

TEST(BinaryCrossEntropy, SurvivesLargeLogits) {
  EXPECT_EQ(binary_loss({1e30f, -1e30f}, {1, 0}), 0);
  EXPECT_FLOAT_EQ(binary_loss({-1e30f}, {1}), 1e30f);
}

TEST(BinaryCrossEntropy, OfLogitsThatAreNoNumbersIsNone) {
  EXPECT_TRUE(std::isnan(binary_loss({1, std::nanf("")}, {1, 1})));
}

TEST(BinaryCrossEntropy, RefusesTargetsThatAreNoProbabilities) {
  const std::string where = "while executing %y (binary_cross_entropy): ";
  EXPECT_EQ(message_of([] { binary_loss({1, 2}, {1, 2}); }), where + "target 2 is outside [0, 1]");
  EXPECT_EQ(message_of([] { binary_loss({1}, {-0.5f}); }), where + "target -0.5 is outside [0, 1]");
  EXPECT_EQ(message_of([] { binary_loss({1}, {std::nanf("")}); }),
            where + "target nan is outside [0, 1]");
}

TEST(BinaryCrossEntropy, RefusesOperandsThatDoNotFit) {
  EXPECT_EQ(refusal("binary_cross_entropy", {"f32[B]", "f32[B]"}),
            "logits must have 2 dimensions, got f32[B]");
  EXPECT_EQ(refusal("binary_cross_entropy", {"f32[B, 3]", "f32[B, 2]"}),
            "targets must have the shape of the logits, f32[B, 3], got f32[B, 2]");
  EXPECT_EQ(refusal("binary_cross_entropy", {"f32[B, 3]", "i64[B, 3]"}),
            "targets must be f32, got i64[B, 3]");
  EXPECT_EQ(refusal("binary_cross_entropy_gradient", {"f32[B, 3]", "f32[B, 3]", "f32[B]"}),
            "dloss must have 0 dimensions, got f32[B]");
}

}  // namespace
}  // namespace hone::testing
