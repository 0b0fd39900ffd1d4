#include "hone/formats/ternary.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/formats/backward_testing.h"
#include "tests/formats/formats_testing.h"
#include "tests/support/expect.h"

namespace hone::testing {
namespace {

const std::vector<std::string> kTernaryFormats = {
    "ternary",
    "ternary(per=tensor)",
    "ternary(scale=none)",
    "ternary(scale=learned)",
    "ternary(per=tensor,scale=learned)",
    "ternary(mode=mase)",
    "ternary(scale=none,mode=mase)",
};

// The scales of the vectors are exact; in general they agree within 4 units in the last place.
TEST(Ternary, GivesTheValuesOfTheVectors) {
  EXPECT_GE(check_vectors("ternary", "fixed", [](const Json&) { return "ternary"; }), 16);
  EXPECT_GE(check_vectors("ternary", "mase",
                          [](const Json& parameters) {
                            return parameters["scaling_factor"].get<bool>()
                                       ? "ternary(mode=mase)"
                                       : "ternary(scale=none,mode=mase)";
                          }),
            32);
}

TEST(Ternary, HasTheSameBitsFastAndSlow) {
  for (const std::string& format : kTernaryFormats) {
    check_fast(format, any_values(70003), {});
    check_fast(format, any_values(37 * 131), {37, 131});
    check_fast(format, any_values(3 * 5 * 17), {3, 5, 17});
    check_fast(format, {-3.0f}, {1});
    check_fast(format, any_values(40), {40, 1});
  }
  check_fast("ternary", any_values(600011), {});  // pieces larger than a chunk
}

TEST(Ternary, IsIdempotent) {
  for (const std::string& format : kTernaryFormats) {
    if (format == "ternary(scale=none,mode=mase)")
      continue;  // its values do not depend on the threshold
    check_idempotent(format, finite_values(40009), {});
    check_idempotent(format, normal_values(29 * 107), {29, 107});
  }
}

TEST(Ternary, IsOdd) {
  for (const std::string& format : kTernaryFormats)
    check_odd(format, finite_values(2000), {20, 100});
}

TEST(Ternary, IsMonotone) {
  for (const std::string& format : kTernaryFormats) check_monotone(format);
}

TEST(Ternary, PacksItsCodes) {
  for (const std::string& format : kTernaryFormats) {
    check_packs(format, finite_values(2001), {});
    check_packs(format, normal_values(33 * 7), {33, 7});
  }
}

// Means 2 and 4 give thresholds 1.5 and 3.
TEST(Ternary, KeepsWhatIsAboveThreeQuartersOfTheMean) {
  const std::vector<float> x = {1.5f, -1.75f, -0.25f, 4.5f, 3, -3.25f, 0, 9.75f};
  EXPECT_EQ(by_reference("ternary", x, {2, 4}),
            (std::vector<float>{0, -3.125f, 0, 3.125f, 0, -6.5f, 0, 6.5f}));
  EXPECT_EQ(by_reference("ternary(scale=none)", x, {2, 4}),
            (std::vector<float>{0, -1, 0, 1, 0, -1, 0, 1}));
  // mean 3, threshold 2.25
  EXPECT_EQ(by_reference("ternary(per=tensor)", x, {2, 4}),
            (std::vector<float>{0, 0, 0, 5.125f, 5.125f, -5.125f, 0, 5.125f}));
}

TEST(Ternary, LeavesARowOfZerosZero) {
  EXPECT_EQ(by_reference("ternary", {0, -0.0f, 1, 1}, {2, 2}), (std::vector<float>{0, 0, 1, 1}));
  EXPECT_EQ(by_reference("ternary(scale=none)", {0, 0}), (std::vector<float>{0, 0}));
  const std::vector<float> zeros(4, 0);
  EXPECT_EQ(by_reference("ternary(scale=learned)", zeros, {2, 2},
                         calibrated_state("ternary(scale=learned)", zeros, {2, 2})),
            zeros);
}

TEST(Ternary, MakesASliceWithoutValuesNanInTheOldMode) {
  const std::vector<float> y = by_reference("ternary(mode=mase)", {0, 0, 1, 0.25f}, {2, 2});
  EXPECT_TRUE(std::isnan(y[0]));
  EXPECT_TRUE(std::isnan(y[1]));
  EXPECT_EQ(y[2], 1);
  EXPECT_EQ(y[3], 0);
  expect_user_error("ternary(mode=mase) has no code for 0", [] {
    const Format format = format_of("ternary(mode=mase)");
    const std::vector<float> x = {0, 0};
    format.def->encode({format, {2}, x, {}});
  });
}

TEST(Ternary, KeepsNanAndTakesTheMeansOfFiniteValues) {
  const std::vector<float> y = by_reference("ternary", {NAN, -INFINITY, 2, -4, INFINITY, 0});
  EXPECT_TRUE(std::isnan(y[0]));
  EXPECT_EQ(std::vector<float>(y.begin() + 1, y.end()), (std::vector<float>{-3, 3, -3, 3, 0}));
  expect_user_error("ternary has no code for nan", [] {
    const Format format = format_of("ternary");
    const std::vector<float> x = {1, NAN};
    format.def->encode({format, {2}, x, {}});
  });
}

// 0.75 times a mean of subnormals is not a float. The largest value still exceeds the threshold.
TEST(Ternary, HasValuesAmongSubnormals) {
  EXPECT_EQ(by_reference("ternary", {1e-45f, -1e-45f}), (std::vector<float>{1e-45f, -1e-45f}));
}

TEST(Ternary, RefusesWhatTheOldModeDoesNotHave) {
  expect_user_error("mode=mase computes its scale from the tensor; use scale=dynamic or scale=none",
                    [] { format_of("ternary(mode=mase,scale=learned)"); });
  expect_user_error("a scale for every slice of the first axis; omit per",
                    [] { format_of("ternary(mode=mase,per=tensor)"); });
}

TEST(Ternary, TakesTwoBitsAndItsScales) {
  EXPECT_EQ(average_bits(format_of("ternary"), {10, 64}), 2.5);
  EXPECT_EQ(average_bits(format_of("ternary(scale=learned)"), {10, 64}), 2.5);
  EXPECT_EQ(average_bits(format_of("ternary(scale=none)"), {10, 64}), 2);
}

// The learned scale starts at the dynamic one, up to the width of an observation bin.
TEST(Ternary, StartsLearningAtTheScaleOfTwn) {
  const std::vector<float> x = normal_values(2 * 3000);
  const std::vector<Tensor> state = calibrated_state("ternary(scale=learned)", x, {2, 3000});
  const std::vector<float> y = by_reference("ternary", x, {2, 3000});
  for (std::size_t row = 0; row < 2; ++row) {
    const auto begin = y.begin() + static_cast<std::ptrdiff_t>(row * 3000);
    const float alpha = *std::max_element(begin, begin + 3000);
    EXPECT_NEAR(state[0].values<float>()[row], alpha, alpha / 64);
  }
}

TEST(Ternary, RoundsToItsLearnedScale) {
  EXPECT_EQ(by_reference("ternary(scale=learned)", {0.9f, 1, 1.1f, -5, INFINITY, -1}, {},
                         {Tensor::of<float>({1}, {2})}),
            (std::vector<float>{0, 0, 2, -2, 2, 0}));
}

// LSQ with one code on each side of zero.
TEST(Ternary, GivesLearnedScalesTheGradientOfLsq) {
  const std::vector<float> x = {0.5f, -1.5f, 2.5f, -4}, dy = {1, 2, 3, 4};
  const FormatGradients got =
      gradients_of("ternary(scale=learned)", x, {1, 4}, {Tensor::of<float>({1}, {2})}, dy);
  EXPECT_EQ(got.dx, (std::vector<float>{1, 2, 0, 0}));
  // v = 0.25, -0.75, 1.25, -2
  EXPECT_FLOAT_EQ(got.state[0].values<float>()[0], (-0.25f - 2 * 0.25f + 3 - 4) / 2);
  for (const char* format : {"ternary", "ternary(scale=none)", "ternary(mode=mase)"})
    EXPECT_EQ(gradient_rule_of(format_of(format)), GradientRule::straight_through);
}

TEST(Ternary, HasTheSameGradientsForAnyThreadsAndProcessor) {
  check_backward("ternary(scale=learned)", normal_values(37 * 131), {37, 131});
  check_backward("ternary(per=tensor,scale=learned)", normal_values(70003), {70003});
}

// The best three values for a normal distribution leave 0.19 of its variance.
TEST(Ternary, LearnsAScaleFromABadStart) {
  const std::vector<float> x = normal_values(4096);
  for (const float start : {4.0f, 0.2f}) {
    const Descent descent =
        descend("ternary(per=tensor,scale=learned)", x, {64, 64}, {Tensor::scalar(start)}, 2, 400);
    EXPECT_GT(descent.before, 0.5);
    EXPECT_LT(descent.after, 0.22) << start;
  }
}

}  // namespace
}  // namespace hone::testing
