#include "hone/formats/logarithm.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/formats/formats_testing.h"
#include "tests/support/expect.h"

namespace hone::testing {
namespace {

const std::vector<std::string> kLogarithmFormats = {
    "log(width=8,exponent_bias=63)",      "log(width=8,exponent_bias=7)",
    "log(width=4,exponent_bias=3)",       "log(width=2,exponent_bias=0)",
    "log(width=16,exponent_bias=16383)",  "log(width=8,exponent_bias=128)",
    "log(width=8,exponent_bias=-120)",    "log(width=8,exponent_bias=253)",
    "log(width=24,exponent_bias=8388733)"};

const std::vector<std::string> kMaseLogarithmFormats = {"log(width=8,exponent_bias=63,mode=mase)",
                                                        "log(width=8,exponent_bias=4,mode=mase)",
                                                        "log(width=4,exponent_bias=3,mode=mase)"};

int logarithms_compared(const std::string& mode) {
  return check_vectors("log", mode, [&](const Json& parameters) {
    const int width = parameters["width"].get<int>();
    const Json& bias = parameters["exponent_bias"];
    return fmt::format("log(width={},exponent_bias={},mode={})", width,
                       bias.is_null() ? (1 << (width - 2)) - 1 : bias.get<int>(), mode);
  });
}

TEST(Log, GivesTheValuesOfTheVectors) {
  EXPECT_GE(logarithms_compared("fixed"), 3 * 28);
  EXPECT_GE(logarithms_compared("mase"), 5 * 28);
}

TEST(Log, HasTheSameBitsFastAndSlow) {
  for (const std::string& format : kLogarithmFormats) check_fast(format, any_values(40003), {});
  for (const std::string& format : kLogarithmFormats) check_fast(format, any_values(17), {});
  for (const std::string& format : kMaseLogarithmFormats) check_fast(format, any_values(40003), {});
  check_fast("log(width=8)", any_values(40003), {});
}

TEST(Log, IsIdempotentAndOddAndMonotone) {
  for (const std::string& format : kLogarithmFormats) {
    check_idempotent(format, finite_values(2000), {});
    check_odd(format, finite_values(2000), {});
    check_monotone(format);
  }
}

TEST(Log, PacksItsCodes) {
  for (const std::string& format : kLogarithmFormats) check_packs(format, finite_values(2001), {});
  for (const std::string& format : kMaseLogarithmFormats)
    check_packs(format, finite_values(2001), {});
  check_packs("log(width=5)", finite_values(2001), {});
}

// sqrt(2) lies between the floats 1.41421354 and 1.41421366.
TEST(Log, ChangesThePowerAtTheRootOfTwo) {
  const float below = std::ldexp(static_cast<float>(0xb504f3), -23);
  const float above = std::ldexp(static_cast<float>(0xb504f4), -23);
  for (const float scale : {1.0f, 0x1p-60f, 0x1p60f}) {
    const std::vector<float> x = {below * scale, -above * scale};
    const std::vector<float> expected = {scale, -2 * scale};
    EXPECT_EQ(by_reference("log(width=8,exponent_bias=63)", x), expected);
    EXPECT_EQ(fast("log(width=8,exponent_bias=63)", x), expected);
  }
}

TEST(Log, SaturatesAboveAndHasZeroBelow) {
  EXPECT_EQ(by_reference("log(width=4,exponent_bias=3)",
                         {INFINITY, -INFINITY, 1e9f, 0, 0.25f, 0.17f, 0.18f}),
            (std::vector<float>{16, -16, 16, 0, 0.25f, 0, 0.25f}));
  EXPECT_TRUE(std::isnan(by_reference("log(width=4,exponent_bias=3)", {NAN})[0]));
}

// The grid ends at the smallest normal float. sqrt(1/2) of it is the first value that rounds to it.
TEST(Log, RoundsSubnormalFloatsToZeroOrTheSmallestNormal) {
  const float above = std::ldexp(static_cast<float>(0x5a827a), -149);
  EXPECT_EQ(fast("log(width=16,exponent_bias=16383)", {above, std::nextafter(above, 0.0f), 1e-45f}),
            (std::vector<float>{0x1p-126f, 0, 0}));
}

TEST(Log, IsWithinTheRootOfTwo) {
  for (const float x : finite_values(2000)) {
    if (x == 0) continue;
    const float ratio = by_reference("log(width=8,exponent_bias=63)", {x})[0] / x;
    EXPECT_TRUE(ratio > 0.7071f && ratio < 1.4143f) << x;
  }
}

TEST(Log, HasNoZeroInMase) {
  EXPECT_EQ(by_reference("log(width=8,exponent_bias=7,mode=mase)", {0, -0.0005f}),
            (std::vector<float>{0x1p-7f, 0x1p-7f}));
}

float calibrated_bias(const std::string& text, const std::vector<float>& seen) {
  return calibrated_state(text, seen)[0].values<float>()[0];
}

// The largest power, 2^(127 - bias) for 8 bits, is the first that is at least the largest observed magnitude.
TEST(Log, CalibratesTheBiasFromTheLargestMagnitude) {
  EXPECT_EQ(calibrated_bias("log(width=8)", {0.1f, -1.0f}), 127);
  EXPECT_EQ(calibrated_bias("log(width=8)", {0.1f, -1.01f}), 126);
  EXPECT_EQ(calibrated_bias("log(width=4)", {100, 3}), 0);
  EXPECT_EQ(calibrated_bias("log(width=8)", {0, 0}), 63);
  EXPECT_EQ(calibrated_bias("log(width=8)", {}), 63);
  EXPECT_EQ(calibrated_bias("log(width=8)", {1e-45f}), 253);
  EXPECT_EQ(calibrated_bias("log(width=8)", {3e38f}), 0);
}

TEST(Log, ReadsTheCalibratedBias) {
  const std::vector<FormatStateDef> states = states_of(format_of("log(width=8)"));
  ASSERT_EQ(states.size(), 1u);
  EXPECT_EQ(states[0].name, "exponent_bias");
  const std::vector<float> x = finite_values(1000);
  const std::vector<Tensor> state = {Tensor::scalar(70.0f)};
  EXPECT_EQ(by_reference("log(width=8)", x, {}, state),
            by_reference("log(width=8,exponent_bias=70)", x));
  EXPECT_EQ(fast("log(width=8)", x, {}, state), fast("log(width=8,exponent_bias=70)", x));
}

TEST(Log, TakesADefaultBiasInMaseInsteadOfState) {
  const Format format = format_of("log(width=6,mode=mase)");
  EXPECT_EQ(to_string(format), "log(width=6,exponent_bias=15,mode=mase)");
  EXPECT_TRUE(states_of(format).empty());
}

TEST(Log, HasNoCodeForWhatIsNoPower) {
  const auto encode = [](std::string_view text, float x) {
    const Format format = format_of(text);
    const std::vector<float> values = {x};
    format.def->encode({format, {1}, values, {}});
  };
  expect_user_error("log(width=8,exponent_bias=63) has no code for nan",
                    [&] { encode("log(width=8,exponent_bias=63)", NAN); });
  // The bias is so large that 2^-bias is not a float.
  expect_user_error("has no code for 0",
                    [&] { encode("log(width=8,exponent_bias=200,mode=mase)", 0); });
}

TEST(Log, RefusesExponentsNoFloatHas) {
  expect_user_error("exponents from -299 to -173 exceed those of a float (-126 … 127)",
                    [] { format_of("log(width=8,exponent_bias=300)"); });
  expect_user_error("exponents from 128 to 254 exceed those of a float (-126 … 127)",
                    [] { format_of("log(width=8,exponent_bias=-127)"); });
}

TEST(Log, ObjectsToABiasThatLosesTheTensor) {
  const std::vector<float> weights = {0.04f, -0.05f, 0.06f, 0.07f};
  EXPECT_EQ(objection("log(width=8,exponent_bias=63)", weights), "");
  EXPECT_EQ(objection("log(width=8)", weights), "");
  EXPECT_EQ(objection("log(width=8,exponent_bias=1)", weights),
            "exponent_bias=1 makes 1 the smallest magnitude, but the median magnitude of "
            "the values is 0.05, so most of them would be rounded to zero or up to it; use "
            "exponent_bias=130");
  EXPECT_NE(objection("log(width=4,exponent_bias=3,mode=mase)", weights).find("exponent_bias=10"),
            std::string::npos);
  EXPECT_NE(objection("log(width=8,exponent_bias=140)", weights).find("the largest magnitude"),
            std::string::npos);
  EXPECT_EQ(objection("log(width=8,exponent_bias=1)", {0, 0, 0, 0.1f}), "");
}

TEST(Log, AsksForMoreBitsWhereNoBiasHelps) {
  EXPECT_NE(objection("log(width=3)", {100, 1e-3f, 1e-3f}).find("use a larger width"),
            std::string::npos);
}

}  // namespace
}  // namespace hone::testing
