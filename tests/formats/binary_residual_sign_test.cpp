#include "hone/formats/binary_residual_sign.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/formats/backward_testing.h"
#include "tests/formats/formats_testing.h"
#include "tests/support/expect.h"

namespace hone::testing {
namespace {

const std::vector<std::string> kFixed = {"binary_residual_sign(levels=1)", "binary_residual_sign",
                                         "binary_residual_sign(levels=3,scale=learned)",
                                         "binary_residual_sign(levels=4)"};
const std::vector<std::string> kOld = {"binary_residual_sign(levels=1,mode=mase)",
                                       "binary_residual_sign(mode=mase)",
                                       "binary_residual_sign(levels=3,mode=mase)"};

std::vector<std::string> all_residual_formats() {
  std::vector<std::string> all = kFixed;
  all.insert(all.end(), kOld.begin(), kOld.end());
  return all;
}

TEST(BinaryResidualSign, GivesTheValuesOfTheVectors) {
  EXPECT_GE(check_vectors("binary_residual", "mase",
                          [](const Json& parameters) {
                            return fmt::format("binary_residual_sign(levels={},mode=mase)",
                                               parameters["levels"].get<int>());
                          }),
            13);
}

TEST(BinaryResidualSign, HasTheSameBitsFastAndSlow) {
  for (const std::string& format : all_residual_formats()) {
    check_fast(format, any_values(70003), {});
    check_fast(format, any_values(3 * 5 * 17), {3, 5, 17});
    check_fast(format, {-3.0f}, {1});
  }
}

// This holds if every mean exceeds the sum of those after it, as here for up to three levels. Four means overlap.
TEST(BinaryResidualSign, IsIdempotentWhereItsMeansKeepApart) {
  for (const char* format :
       {"binary_residual_sign(levels=1)", "binary_residual_sign", "binary_residual_sign(levels=3)"})
    check_idempotent(format, normal_values(3000), {});
}

TEST(BinaryResidualSign, IsOdd) {
  for (const std::string& format : all_residual_formats())
    check_odd(format, normal_values(2000), {});
}

TEST(BinaryResidualSign, PacksItsCodes) {
  for (const std::string& format : all_residual_formats())
    check_packs(format, normal_values(2001), {});
}

// The means 0.75 and 0.25 give -1, -0.5, 0.5 and 1.
TEST(BinaryResidualSign, AddsTheSignsOfWhatIsLeft) {
  const std::vector<Tensor> means = {Tensor::of<float>({2}, {0.75f, 0.25f})};
  EXPECT_EQ(
      by_reference("binary_residual_sign",
                   {0, -0.0f, 0.1f, 0.74f, 0.75f, 5, -0.1f, -0.8f, INFINITY, -INFINITY}, {}, means),
      (std::vector<float>{0.5f, 0.5f, 0.5f, 0.5f, 1, 1, -0.5f, -1, 1, -1}));
  EXPECT_TRUE(std::isnan(by_reference("binary_residual_sign", {NAN}, {}, means)[0]));
  EXPECT_EQ(by_reference("binary_residual_sign(mode=mase)", {NAN, INFINITY}),
            (std::vector<float>{0, 1}));
}

// Magnitudes 1, 2, 3 have mean 2. The residuals 1, 0, 1 have mean 2/3 and leave 1/3, 2/3, 1/3. All values hold up to
// the width of an observation bin.
TEST(BinaryResidualSign, CalibratesEveryMeanOnWhatIsLeft) {
  const std::vector<Tensor> means =
      calibrated_state("binary_residual_sign(levels=3)", {1, -2, 3, -1, 2, -3});
  ASSERT_EQ(means[0].sizes(), (Sizes{3}));
  EXPECT_NEAR(means[0].values<float>()[0], 2, 2.0 / 64);
  EXPECT_NEAR(means[0].values<float>()[1], 2.0 / 3, 2.0 / 64);
  EXPECT_NEAR(means[0].values<float>()[2], 4.0 / 9, 2.0 / 64);
  EXPECT_EQ(calibrated_state("binary_residual_sign", {})[0].values<float>()[1], 0);
}

// Each level reduces the error.
TEST(BinaryResidualSign, GainsFromEveryLevel) {
  const std::vector<float> x = normal_values(4000);
  double last = 1;
  for (int levels = 1; levels <= 4; ++levels) {
    const std::string format = fmt::format("binary_residual_sign(levels={})", levels);
    const std::vector<float> y = by_reference(format, x, {}, calibrated_state(format, x));
    double error = 0;
    for (std::size_t i = 0; i < x.size(); ++i) error += std::pow(y[i] - x[i], 2) / 4000;
    EXPECT_LT(error, 0.6 * last) << levels;
    last = error;
  }
}

TEST(BinaryResidualSign, RefusesToLearnTheOldMeans) {
  expect_user_error("mode=mase derives the means from their number; omit scale",
                    [] { format_of("binary_residual_sign(scale=learned,mode=mase)"); });
}

TEST(BinaryResidualSign, HasNoCodeForASignOfZero) {
  const auto encode = [](const char* text, float value) {
    const Format format = format_of(text);
    const std::vector<float> x = {value};
    const std::vector<Tensor> state = calibrated_state(text, {1});
    format.def->encode({format, {1}, x, state});
  };
  const char* const old = "binary_residual_sign(mode=mase)";
  expect_user_error("binary_residual_sign(levels=2,mode=mase) has no code for 0",
                    [&] { encode(old, 0); });
  expect_user_error("has no code for 0.666", [&] { encode(old, 2.0f / 3); });
  expect_user_error("has no code for nan", [&] { encode(old, NAN); });
  expect_user_error("has no code for nan", [&] { encode("binary_residual_sign", NAN); });
  encode("binary_residual_sign", 0);
}

TEST(BinaryResidualSign, TakesABitPerLevelAndItsMeans) {
  EXPECT_EQ(average_bits(format_of("binary_residual_sign(levels=3)"), {10, 64}),
            3 + 3 * 32.0 / 640);
  EXPECT_EQ(average_bits(format_of("binary_residual_sign(levels=3,mode=mase)"), {10, 64}), 3);
}

TEST(BinaryResidualSign, GivesTheGradientsOfItsFormula) {
  const std::vector<float> x = {0.5f, -1.5f, 2.5f, -4}, dy = {1, 2, 3, 4};
  const FormatGradients got = gradients_of("binary_residual_sign(scale=learned)", x, {4},
                                           {Tensor::of<float>({2}, {2, 0.75f})}, dy);
  EXPECT_EQ(got.dx, (std::vector<float>{1, 2, 3, 0}));  // up to 2.75
  EXPECT_FLOAT_EQ(got.state[0].values<float>()[0], (1 - 2 + 3 - 4) / 2.0f);
  // residuals: -1.5, 0.5, 0.5, -2
  EXPECT_FLOAT_EQ(got.state[0].values<float>()[1], (-1 + 2 + 3 - 4) / 2.0f);
}

// The factor is 1 - (1 - 2/3)(1 - 1/3) = 7/9 if both signs pass gradients, and 1/3 if only the second does.
TEST(BinaryResidualSign, GivesTheGradientsOfTheOldChain) {
  const FormatGradients got =
      gradients_of("binary_residual_sign(mode=mase)", {0.5f, -1.5f, 2.5f}, {3}, {}, {9, 3, 1});
  EXPECT_FLOAT_EQ(got.dx[0], 7);
  EXPECT_FLOAT_EQ(got.dx[1], 1);
  EXPECT_EQ(got.dx[2], 0);
}

TEST(BinaryResidualSign, HasTheSameGradientsForAnyThreadsAndProcessor) {
  for (const std::string& format : all_residual_formats())
    check_backward(format, normal_values(70003), {70003});
}

TEST(BinaryResidualSign, LearnsItsMeansFromABadStart) {
  const std::vector<float> x = normal_values(4096);
  const Descent descent = descend("binary_residual_sign(scale=learned)", x, {64, 64},
                                  {Tensor::of<float>({2}, {0.1f, 0.05f})}, 2, 400);
  EXPECT_GT(descent.before, 0.7);
  EXPECT_LT(descent.after,
            0.15);  // the best four symmetric values of a normal distribution: 0.1175
}

}  // namespace
}  // namespace hone::testing
