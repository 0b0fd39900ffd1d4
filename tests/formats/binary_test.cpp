#include "hone/formats/binary.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/formats/backward_testing.h"
#include "tests/formats/formats_testing.h"
#include "tests/support/expect.h"

namespace hone::testing {
namespace {

const std::vector<std::string> kBinaryFormats = {
    "binary", "binary(scale=none)", "binary(mode=mase)", "binary(scale=row,mode=mase)"};

TEST(Binary, GivesTheValuesOfTheVectors) {
  EXPECT_GE(check_vectors("binary", "fixed", [](const Json&) { return "binary"; }), 16);
  EXPECT_GE(check_vectors("binary", "mase",
                          [](const Json& parameters) {
                            return parameters["bipolar"].get<bool>()
                                       ? "binary(mode=mase)"
                                       : "binary(scale=row,mode=mase)";
                          }),
            31);
}

TEST(Binary, SpellsOutItsScale) {
  EXPECT_EQ(to_string(format_of("binary")), "binary(scale=row)");
  EXPECT_EQ(to_string(format_of("binary(mode=mase)")), "binary(scale=none,mode=mase)");
  for (const std::string& format : kBinaryFormats)
    EXPECT_EQ(format_of(to_string(format_of(format))), format_of(format)) << format;
}

TEST(Binary, HasTheSameBitsFastAndSlow) {
  for (const std::string& format : kBinaryFormats) {
    check_fast(format, any_values(70003), {});
    check_fast(format, any_values(37 * 131), {37, 131});
    check_fast(format, any_values(3 * 5 * 17), {3, 5, 17});
    check_fast(format, {-3.0f}, {1});
    check_fast(format, any_values(40), {40, 1});
  }
  check_fast("binary", any_values(600011), {});  // pieces larger than a chunk
}

// The mean of equal magnitudes is exact, for any magnitude and count.
TEST(Binary, IsIdempotent) {
  for (const char* format : {"binary", "binary(scale=none)", "binary(mode=mase)"}) {
    check_idempotent(format, finite_values(40009), {});
    check_idempotent(format, normal_values(29 * 107), {29, 107});
  }
}

TEST(Binary, IsOddButAtZero) {
  for (const char* format : {"binary", "binary(scale=none)", "binary(mode=mase)"})
    check_odd(format, normal_values(2000), {20, 100});
}

TEST(Binary, IsMonotone) {
  for (const std::string& format : kBinaryFormats) check_monotone(format);
}

TEST(Binary, PacksItsCodes) {
  for (const std::string& format : kBinaryFormats) {
    check_packs(format, finite_values(2001), {});
    check_packs(format, normal_values(33 * 7), {33, 7});
  }
}

TEST(Binary, TakesTheMeanMagnitudeOfTheRow) {
  EXPECT_EQ(by_reference("binary", {1, -2, 3, 0, 10, -30}, {2, 3}),
            (std::vector<float>{2, -2, 2, 40.0f / 3, 40.0f / 3, -40.0f / 3}));
  EXPECT_EQ(by_reference("binary", {0, -0.0f, 0}), (std::vector<float>{0, 0, 0}));
}

// The least-squares scale: no other scale is closer to the row (Rastegari et al., 2016, section 3.1).
TEST(Binary, HasTheScaleWithTheLeastError) {
  const std::vector<float> x = normal_values(1000), y = by_reference("binary", x);
  const auto error = [&](double factor) {
    double sum = 0;
    for (std::size_t i = 0; i < x.size(); ++i) sum += std::pow(factor * y[i] - x[i], 2);
    return sum;
  };
  EXPECT_LT(error(1), error(0.99));
  EXPECT_LT(error(1), error(1.01));
}

TEST(Binary, KeepsNanAndTakesTheMeanOfFiniteValues) {
  const std::vector<float> y = by_reference("binary", {NAN, -INFINITY, 1, -3, INFINITY});
  EXPECT_TRUE(std::isnan(y[0]));
  EXPECT_EQ(std::vector<float>(y.begin() + 1, y.end()), (std::vector<float>{-2, 2, -2, 2}));
}

TEST(Binary, HasNoCodeForNan) {
  expect_user_error("binary(scale=row) has no code for nan", [] {
    const Format format = format_of("binary");
    const std::vector<float> x = {1, NAN};
    format.def->encode({format, {2}, x, {}});
  });
}

TEST(Binary, TakesOneBitAndTheScaleOfTheRow) {
  EXPECT_EQ(average_bits(format_of("binary"), {10, 64}), 1.5);
  EXPECT_EQ(average_bits(format_of("binary(scale=none)"), {10, 64}), 1);
}

TEST(Binary, PassesGradientsBetweenMinusOneAndOne) {
  const std::vector<float> x = {0.5f, -1, 1, 1.0001f, -7, INFINITY, NAN, 0};
  const std::vector<float> dy = {1, 2, 3, 4, 5, 6, 7, 8};
  EXPECT_EQ(gradients_of("binary", x, {2, 4}, {}, dy).dx,
            (std::vector<float>{1, 2, 3, 0, 0, 0, 0, 8}));
  EXPECT_EQ(gradient_rule_of(format_of("binary(mode=mase)")), GradientRule::straight_through);
  check_backward("binary", normal_values(70003), {70003});
}

}  // namespace
}  // namespace hone::testing
