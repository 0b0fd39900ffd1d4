#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/evaluate.h"
#include "tests/support/refusal.h"

namespace hone::testing {
namespace {

constexpr std::string_view kLoss = R"(%logits = input : f32[B, C]
%labels = input : i64[B]
%y = cross_entropy(%logits, %labels) : f32[]
output y = %y)";

float loss(const std::vector<float>& logits, const std::vector<std::int64_t>& labels) {
  const std::int64_t rows = static_cast<std::int64_t>(labels.size());
  const std::int64_t classes = static_cast<std::int64_t>(logits.size()) / rows;
  return evaluate(kLoss, {{"logits", Tensor::of<float>({rows, classes}, logits)},
                          {"labels", Tensor::of<std::int64_t>({rows}, labels)}})[0];
}

TEST(CrossEntropy, IsTheLogOfTheNumberOfClassesForEqualLogits) {
  EXPECT_FLOAT_EQ(loss({5, 5, 5, 5}, {2}), static_cast<float>(std::log(4.0)));
}

TEST(CrossEntropy, IsTheMeanOverTheRowsThatCount) {
  const double first = std::log(1 + std::exp(-2.0)), second = std::log(1 + std::exp(3.0));
  EXPECT_FLOAT_EQ(loss({2, 0, 0, 3}, {0, 0}), static_cast<float>((first + second) / 2));
  EXPECT_FLOAT_EQ(loss({2, 0, 7, 9, 0, 3}, {0, -100, 0}), static_cast<float>((first + second) / 2));
}

// torch.nn.functional.cross_entropy(logits, labels, weight=weights), which returns a weighted mean.
TEST(CrossEntropy, WeighsRowsByTheirClasses) {
  const float found = evaluate(R"(%logits = input : f32[B, C]
%labels = input : i64[B]
%weights = input : f32[C]
%y = cross_entropy(%logits, %labels, %weights) : f32[]
output y = %y)",
                               {{"logits", Tensor::of<float>({3, 2}, {2, 0, 0, 3, 7, 9})},
                                {"labels", Tensor::of<std::int64_t>({3}, {0, 1, -100})},
                                {"weights", Tensor::of<float>({2}, {0.5f, 4})}})[0];
  const double first = std::log(1 + std::exp(-2.0)), second = std::log(1 + std::exp(-3.0));
  EXPECT_FLOAT_EQ(found, static_cast<float>((0.5 * first + 4 * second) / 4.5));
}

TEST(CrossEntropy, SurvivesLargeLogits) {
  EXPECT_FLOAT_EQ(loss({1e30f, 0, 0}, {0}), 0);
  EXPECT_FLOAT_EQ(loss({1e30f, 0, 0}, {1}), 1e30f);
}

TEST(CrossEntropy, IsNotANumberWhenNoRowCounts) { EXPECT_TRUE(std::isnan(loss({1, 2}, {-100}))); }

TEST(CrossEntropy, RefusesLabelsOutsideTheClasses) {
  const std::string where = "while executing %y (cross_entropy): ";
  EXPECT_EQ(message_of([] {
              loss({1, 2}, {2});
            }),
            where + "label 2 is outside the model's 2 classes");
  EXPECT_EQ(message_of([] {
              loss({1, 2}, {-1});
            }),
            where + "label -1 is outside the model's 2 classes");
}

TEST(CrossEntropy, RefusesClassWeightsThatDoNotFit) {
  EXPECT_EQ(refusal("cross_entropy", {"f32[8, 3]", "i64[8]", "f32[2]"}),
            "number of class weights: expected 3, got 2");
  EXPECT_EQ(refusal("cross_entropy_gradient", {"f32[8, 3]", "i64[8]", "f32[]", "i64[3]"}),
            "class_weights must be f32, got i64[3]");
}

TEST(CrossEntropy, RefusesOperandsThatDoNotFit) {
  EXPECT_EQ(refusal("cross_entropy", {"f32[B, S, 3]", "i64[B]"}),
            "logits must have 2 dimensions, got f32[B, S, 3]");
  EXPECT_EQ(refusal("cross_entropy", {"f32[B, 3]", "f32[B]"}), "labels must be i64, got f32[B]");
  EXPECT_EQ(refusal("cross_entropy", {"f32[8, 3]", "i64[9]"}),
            "number of labels: expected 8, got 9");
  EXPECT_EQ(refusal("cross_entropy_gradient", {"f32[B, 3]", "i64[B]", "f32[B]"}),
            "dloss must have 0 dimensions, got f32[B]");
}

}  // namespace
}  // namespace hone::testing
