#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/evaluate.h"
#include "tests/support/message.h"
#include "tests/support/refusal.h"

namespace hone::testing {
namespace {

float soft_loss(const std::vector<float>& targets, const std::vector<std::int64_t>& labels) {
  return evaluate(R"(%logits = input : f32[B, C]
%targets = input : f32[B, C]
%labels = input : i64[B]
%weights = input : f32[C]
%y = soft_cross_entropy(%logits, %targets, %labels, %weights) : f32[]
output y = %y)",
                  {{"logits", Tensor::of<float>({2, 2}, {2, 0, 0, 3})},
                   {"targets", Tensor::of<float>({2, 2}, targets)},
                   {"labels", Tensor::of<std::int64_t>({2}, labels)},
                   {"weights", Tensor::of<float>({2}, {0.5f, 4})}})[0];
}

TEST(SoftCrossEntropy, IsTheMeanOverTargetsWeighedByLabels) {
  // -log softmax of each row: log(1 + e^-2) and 2 more; 3 + log(1 + e^-3) and 3 less.
  const double first = std::log(1 + std::exp(-2.0)), second = std::log(1 + std::exp(-3.0));
  const double a = 0.75 * first + 0.25 * (first + 2), b = 0.5 * (second + 3) + 0.5 * second;
  EXPECT_FLOAT_EQ(soft_loss({0.75f, 0.25f, 0.5f, 0.5f}, {0, 1}),
                  static_cast<float>((0.5 * a + 4 * b) / 4.5));
  EXPECT_FLOAT_EQ(soft_loss({0.75f, 0.25f, 0.5f, 0.5f}, {0, -100}), static_cast<float>(a));
}

TEST(SoftCrossEntropy, RefusesLabelsOutsideTheClasses) {
  EXPECT_EQ(message_of([] {
              soft_loss({1, 0, 1, 0}, {0, 2});
            }),
            "while executing %y (soft_cross_entropy): label 2 is outside the model's 2 classes");
}

TEST(SoftCrossEntropy, RefusesOperandsThatDoNotFit) {
  EXPECT_EQ(refusal("soft_cross_entropy", {"f32[B, 3]", "f32[B, 2]", "i64[B]"}),
            "targets must have the type of the logits, f32[B, 3], got f32[B, 2]");
  EXPECT_EQ(refusal("soft_cross_entropy", {"f32[8, 3]", "f32[8, 3]", "i64[9]"}),
            "number of labels: expected 8, got 9");
  EXPECT_EQ(refusal("soft_cross_entropy", {"f32[8, 3]", "f32[8, 3]", "i64[8]", "f32[2]"}),
            "number of class weights: expected 3, got 2");
}

}  // namespace
}  // namespace hone::testing
