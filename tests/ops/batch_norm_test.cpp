#include <gtest/gtest.h>

#include "tests/support/evaluate.h"
#include "tests/support/expect.h"
#include "tests/support/refusal.h"

namespace hone::testing {
namespace {

// Deviations with eps = 9: sqrt(16 + 9) = 5 and sqrt(0 + 9) = 3.
TEST(BatchNorm, NormalizesEveryChannelByItsRunningStatistics) {
  constexpr std::string_view text = R"(%x = input : f32[1, 2, 2]
%gamma = input : f32[2]
%beta = input : f32[2]
%mean = input : f32[2]
%variance = input : f32[2]
%y = batch_norm(%x, %gamma, %beta, %mean, %variance) {eps=9.0} : f32[1, 2, 2]
output y = %y)";
  const std::vector<float> y = evaluate(text, {{"x", Tensor::of<float>({1, 2, 2}, {-2, 6, 4, 7})},
                                               {"gamma", Tensor::of<float>({2}, {10, 3})},
                                               {"beta", Tensor::of<float>({2}, {1, -1})},
                                               {"mean", Tensor::of<float>({2}, {2, 4})},
                                               {"variance", Tensor::of<float>({2}, {16, 0})}});
  EXPECT_FLOAT_EQ(y[0], 10 * -4.0 / 5 + 1);
  EXPECT_FLOAT_EQ(y[1], 10 * 4.0 / 5 + 1);
  EXPECT_FLOAT_EQ(y[2], -1);
  EXPECT_FLOAT_EQ(y[3], 2);
}

// A channel of (-2, 6) in two images: mean 2, variance 16, unbiased 32.
TEST(BatchNorm, TakesTheBatchsStatisticsInTraining) {
  constexpr std::string_view text = R"(%x = input : f32[2, 1]
%gamma = input : f32[1]
%beta = input : f32[1]
%n = batch_norm_training(%x, %gamma, %beta) {eps=9.0} : f32[2, 1], f32[1], f32[1]
output y = %n
output mean = %n:1
output variance = %n:2)";
  const NamedTensors got = run_graph(parse(text), {{"x", Tensor::of<float>({2, 1}, {-2, 6})},
                                                   {"gamma", Tensor::of<float>({1}, {10})},
                                                   {"beta", Tensor::of<float>({1}, {1})}});
  EXPECT_EQ(elements_of(got.at("y")), (std::vector<float>{-7, 9}));
  EXPECT_EQ(elements_of(got.at("mean")), (std::vector<float>{2}));
  EXPECT_EQ(elements_of(got.at("variance")), (std::vector<float>{32}));
}

TEST(BatchNorm, RefusesChannelsOfOneValue) {
  constexpr std::string_view text = R"(%x = input : f32[1, 1, 1, 1]
%gamma = input : f32[1]
%n = batch_norm_training(%x, %gamma, %gamma) : f32[1, 1, 1, 1], f32[1], f32[1]
output y = %n)";
  expect_user_error("use larger batches", [&] {
    evaluate(text,
             {{"x", Tensor::of<float>({1, 1, 1, 1}, {1})}, {"gamma", Tensor::of<float>({1}, {1})}});
  });
}

TEST(BatchNorm, RefusesOperandsThatDoNotFit) {
  EXPECT_EQ(refusal("batch_norm", {"f32[B, 4, 8]", "f32[4]", "f32[4]", "f32[4]", "f32[4]"}),
            "no error");
  EXPECT_EQ(refusal("batch_norm", {"f32[B, 4, 8]", "f32[4]", "f32[4]", "f32[8]", "f32[4]"}),
            "length of mean: expected 4, got 8");
  EXPECT_EQ(refusal("batch_norm_training", {"f32[4]", "f32[4]", "f32[4]"}),
            "x must have at least 2 dimensions, got f32[4]");
  EXPECT_EQ(refusal("batch_norm_gradient", {"f32[B, 4]", "f32[4]", "f32[B, 5]"}),
            "dy must be f32[B, 4], got f32[B, 5]");
}

}  // namespace
}  // namespace hone::testing
