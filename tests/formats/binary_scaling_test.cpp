#include "hone/formats/binary_scaling.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/formats/backward_testing.h"
#include "tests/formats/formats_testing.h"
#include "tests/support/expect.h"

namespace hone::testing {
namespace {

const std::vector<std::string> kBinaryScalingFormats = {"binary_scaling", "binary_scaling(per=row)",
                                                        "binary_scaling(scale=learned)",
                                                        "binary_scaling(per=row,scale=learned)"};

TEST(BinaryScaling, HasTheSameBitsFastAndSlow) {
  for (const std::string& format : kBinaryScalingFormats) {
    check_fast(format, any_values(70003), {});
    check_fast(format, any_values(37 * 131), {37, 131});
    check_fast(format, any_values(3 * 5 * 17), {3, 5, 17});
    check_fast(format, {-3.0f}, {1});
  }
}

TEST(BinaryScaling, IsIdempotent) {
  for (const std::string& format : kBinaryScalingFormats)
    check_idempotent(format, finite_values(2000), {20, 100});
}

TEST(BinaryScaling, IsOddButAtZero) {
  for (const std::string& format : kBinaryScalingFormats)
    check_odd(format, normal_values(2000), {20, 100});
}

TEST(BinaryScaling, IsMonotone) {
  for (const std::string& format : kBinaryScalingFormats) check_monotone(format);
}

TEST(BinaryScaling, PacksItsCodes) {
  for (const std::string& format : kBinaryScalingFormats)
    check_packs(format, finite_values(33 * 61), {33, 61});
}

TEST(BinaryScaling, CalibratesTheMeanMagnitude) {
  const std::vector<float> x = {1, -2, 3, 0, 10, -30};
  EXPECT_EQ(calibrated_state("binary_scaling", x)[0].values<float>()[0], 46.0f / 6);
  const std::vector<Tensor> rows = calibrated_state("binary_scaling(per=row)", x, {2, 3});
  EXPECT_EQ(rows[0].sizes(), (Sizes{2}));
  EXPECT_EQ(by_reference("binary_scaling(per=row)", x, {2, 3}, rows),
            (std::vector<float>{2, -2, 2, 40.0f / 3, 40.0f / 3, -40.0f / 3}));
  EXPECT_EQ(by_reference("binary_scaling", {0, -0.0f, 4, -5}, {}, {Tensor::scalar(0.5f)}),
            (std::vector<float>{0.5f, 0.5f, 0.5f, -0.5f}));
}

TEST(BinaryScaling, KeepsNanAndSaturatesInfinities) {
  const std::vector<float> y =
      by_reference("binary_scaling", {NAN, INFINITY, -INFINITY}, {}, {Tensor::scalar(2.0f)});
  EXPECT_TRUE(std::isnan(y[0]));
  EXPECT_EQ(y[1], 2);
  EXPECT_EQ(y[2], -2);
  expect_user_error("has no code for nan", [] {
    const Format format = format_of("binary_scaling");
    const std::vector<float> x = {NAN};
    const std::vector<Tensor> state = {Tensor::scalar(2.0f)};
    format.def->encode({format, {1}, x, state});
  });
}

TEST(BinaryScaling, TakesOneBitAndItsState) {
  EXPECT_EQ(average_bits(format_of("binary_scaling(per=row)"), {10, 64}), 1.5);
  EXPECT_EQ(average_bits(format_of("binary_scaling"), {10, 64}), 1 + 32.0 / 640);
}

// Gradients are clipped at 1, or at alpha if that is larger. The gradient of alpha is the sum of dy sign(x).
TEST(BinaryScaling, GivesTheGradientsOfItsFormula) {
  const std::vector<float> x = {0.5f, -1.5f, 2.5f, 0, 1, -1.5f, 2.5f, -0.25f};
  const std::vector<float> dy = {1, 2, 3, 4, 5, 6, 7, 8};
  const FormatGradients got = gradients_of("binary_scaling(per=row,scale=learned)", x, {2, 4},
                                           {Tensor::of<float>({2}, {0.1f, 2})}, dy);
  EXPECT_EQ(got.dx, (std::vector<float>{1, 0, 0, 4, 5, 6, 0, 8}));
  EXPECT_FLOAT_EQ(got.state[0].values<float>()[0], (1 - 2 + 3 + 4) / 2.0f);
  EXPECT_FLOAT_EQ(got.state[0].values<float>()[1], (5 - 6 + 7 - 8) / 2.0f);
}

TEST(BinaryScaling, HasTheSameGradientsForAnyThreadsAndProcessor) {
  for (const std::string& format : kBinaryScalingFormats) {
    check_backward(format, normal_values(70003), {70003});
    check_backward(format, normal_values(37 * 131), {37, 131});
  }
}

// The best scale for a normal distribution leaves 1 - 2 / pi of its variance.
TEST(BinaryScaling, LearnsAScaleFromABadStart) {
  const std::vector<float> x = normal_values(4096);
  for (const float start : {10.0f, -1.0f}) {
    const Descent descent =
        descend("binary_scaling(scale=learned)", x, {64, 64}, {Tensor::scalar(start)}, 1, 400);
    EXPECT_GT(descent.before, 1);
    EXPECT_NEAR(descent.after, 1 - 2 / M_PI, 0.03) << start;
  }
}

}  // namespace
}  // namespace hone::testing
