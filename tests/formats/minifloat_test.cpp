#include "hone/formats/minifloat.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/formats/formats_testing.h"
#include "tests/support/expect.h"

namespace hone::testing {
namespace {

// Small formats, one without mantissa bits, and grids near the ends of the float range, which take the slow paths.
const std::vector<std::string> kMinifloatFormats = {
    "minifloat_ieee(width=8,exponent_width=4)",
    "minifloat_ieee(width=8,exponent_width=5)",
    "minifloat_ieee(width=4,exponent_width=2)",
    "minifloat_ieee(width=5,exponent_width=4)",
    "minifloat_ieee(width=8,exponent_width=4,exponent_bias=-9)",
    "minifloat_ieee(width=8,exponent_width=1,exponent_bias=0)",
    "minifloat_ieee(width=16,exponent_width=8)",
    "minifloat_ieee(width=9,exponent_width=8,exponent_bias=150)",
    "minifloat_ieee(width=12,exponent_width=4,exponent_bias=-100)",
    "minifloat_ieee(width=12,exponent_width=4,exponent_bias=130)",
    "minifloat_ieee(width=31,exponent_width=8)",
    "minifloat_ieee(width=32,exponent_width=8)",
    "minifloat_denorm(width=8,exponent_width=4)",
    "minifloat_denorm(width=6,exponent_width=2)",
    "minifloat_denorm(width=6,exponent_width=4)",
    "minifloat_denorm(width=16,exponent_width=8)",
    "minifloat_denorm(width=32,exponent_width=7,exponent_bias=0)",
};

const std::vector<std::string> kMaseMinifloatFormats = {
    "minifloat_ieee(width=8,exponent_width=4,mode=mase)",
    "minifloat_ieee(width=12,exponent_width=8,exponent_bias=127,mode=mase)",
    "minifloat_denorm(width=8,exponent_width=4,mode=mase)",
    "minifloat_denorm(width=12,exponent_width=8,exponent_bias=127,mode=mase)",
};

int minifloats_compared(const std::string& name, const std::string& mode) {
  return check_vectors(name, mode, [&](const Json& parameters) {
    const Json& bias = parameters["exponent_bias"];
    return fmt::format("{}(width={},exponent_width={},exponent_bias={},mode={})", name,
                       parameters["width"].get<int>(), parameters["exponent_width"].get<int>(),
                       bias.is_null() ? "auto" : std::to_string(bias.get<int>()), mode);
  });
}

TEST(Minifloat, GivesTheValuesOfTheVectors) {
  EXPECT_GE(minifloats_compared("minifloat_ieee", "fixed"), 57);
  EXPECT_GE(minifloats_compared("minifloat_ieee", "mase"), 75);
  EXPECT_GE(minifloats_compared("minifloat_denorm", "fixed"), 57);
  EXPECT_GE(minifloats_compared("minifloat_denorm", "mase"), 77);
}

TEST(Minifloat, HasTheSameBitsFastAndSlow) {
  for (const std::string& format : kMinifloatFormats) check_fast(format, any_values(40003), {});
  for (const std::string& format : kMaseMinifloatFormats) check_fast(format, any_values(40003), {});
  for (const std::string& format : kMinifloatFormats) check_fast(format, any_values(17), {});
}

TEST(Minifloat, IsIdempotent) {
  for (const std::string& format : kMinifloatFormats)
    check_idempotent(format, finite_values(2000), {});
}

TEST(Minifloat, IsOdd) {
  for (const std::string& format : kMinifloatFormats) check_odd(format, finite_values(2000), {});
  for (const std::string& format : kMaseMinifloatFormats)
    check_odd(format, finite_values(2000), {});
}

TEST(Minifloat, IsMonotone) {
  for (const std::string& format : kMinifloatFormats) check_monotone(format);
}

TEST(Minifloat, PacksItsCodes) {
  for (const std::string& format : kMinifloatFormats) check_packs(format, finite_values(2001), {});
  for (const std::string& format : kMaseMinifloatFormats)
    check_packs(format, finite_values(2001), {});
}

// Returns the magnitudes of all codes in ascending order, each once.
std::vector<float> magnitudes(const std::string& text) {
  const Format format = format_of(text);
  Codes codes;
  for (std::uint32_t code = 0; code < (1u << (format["width"] - 1)); ++code)
    codes.elements.push_back(code);
  std::vector<float> values(codes.elements.size());
  format.def->decode({format, {static_cast<std::int64_t>(values.size())}, {}, {}}, codes, values);
  std::ranges::sort(values);
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

// The midpoint of neighbouring values rounds to the even multiple of the step.
TEST(Minifloat, RoundsToTheNearestCode) {
  int checked = 0;
  for (const std::string format :
       {"minifloat_ieee(width=8,exponent_width=4)", "minifloat_ieee(width=8,exponent_width=5)",
        "minifloat_ieee(width=5,exponent_width=4)", "minifloat_denorm(width=8,exponent_width=4)"}) {
    const std::vector<float> values = magnitudes(format);
    for (std::size_t i = 0; i + 1 < values.size(); ++i, ++checked) {
      const float low = values[i], high = values[i + 1], middle = (low + high) / 2;
      const float even = std::fmod(low / (high - low), 2.0f) == 0 ? low : high;
      const std::vector<float> x = {low, std::nextafter(middle, low), middle,
                                    std::nextafter(middle, high), high};
      const std::vector<float> expected = {low, low, even, high, high};
      EXPECT_EQ(by_reference(format, x), expected) << format;
      EXPECT_EQ(fast(format, x), expected) << format;
    }
  }
  EXPECT_GE(checked, 127 + 127 + 15 + 60);
}

TEST(Minifloat, SaturatesAtItsLargestMagnitude) {
  const auto largest = [](const std::string& format) {
    const std::vector<float> y = by_reference(format, {INFINITY, -INFINITY, 3e38f});
    EXPECT_EQ(y[1], -y[0]) << format;
    EXPECT_EQ(y[2], y[0]) << format;
    return y[0];
  };
  EXPECT_EQ(largest("minifloat_ieee(width=8,exponent_width=4)"), 480.0f);
  EXPECT_EQ(largest("minifloat_ieee(width=8,exponent_width=5)"), 114688.0f);
  EXPECT_EQ(largest("minifloat_denorm(width=8,exponent_width=4)"), 224.0f);
  // 2^128 is not a float, so the largest magnitude has exponent 127.
  EXPECT_EQ(by_reference("minifloat_ieee(width=12,exponent_width=8)", {INFINITY})[0], 0x1.ep127f);
}

TEST(Minifloat, KeepsNanAndSubnormalFloatsWithinReach) {
  EXPECT_TRUE(std::isnan(by_reference("minifloat_ieee", {NAN})[0]));
  EXPECT_TRUE(std::isnan(by_reference("minifloat_ieee(mode=mase)", {NAN})[0]));
  EXPECT_TRUE(std::isnan(by_reference("minifloat_ieee(mode=mase)", {INFINITY})[0]));
  const std::vector<float> x = {0x1p-140f, 0x1.8p-130f, 1e-45f};
  EXPECT_EQ(by_reference("minifloat_ieee", x), (std::vector<float>{0, 0, 0}));
  EXPECT_EQ(by_reference("minifloat_ieee(width=12,exponent_width=4,exponent_bias=130)", x),
            (std::vector<float>{0, 0x1.8p-130f, 0}));
}

TEST(Minifloat, CarriesIntoTheNextBinadeUnlikeMase) {
  EXPECT_EQ(by_reference("minifloat_ieee", {1.95f, 0.97f}), (std::vector<float>{2, 1}));
  EXPECT_EQ(by_reference("minifloat_ieee(mode=mase)", {1.95f, 0.97f}),
            (std::vector<float>{1.875f, 0.9375f}));
  EXPECT_EQ(by_reference("minifloat_denorm", {1, 0.96f}), (std::vector<float>{1, 1}));
  EXPECT_EQ(by_reference("minifloat_denorm(mode=mase)", {1, 0.96f}),
            (std::vector<float>{0.875f, 0.875f}));
}

// mase adds 1e-9 before the logarithm. This lifts small powers of two into the next binade, where they have a mantissa.
TEST(Minifloat, NudgesSmallPowersOfTwoInMase) {
  EXPECT_EQ(
      by_reference("minifloat_denorm(width=12,exponent_width=5,mode=mase)", {0x1p-10f, 0x1p-5f}),
      (std::vector<float>{0x1p-10f, 63 * 0x1p-11f}));
}

TEST(Minifloat, HasNoCodeForWhatItCannotHold) {
  const auto encode = [](std::string_view text, float x) {
    const Format format = format_of(text);
    const std::vector<float> values = {x};
    format.def->encode({format, {1}, values, {}});
  };
  expect_user_error("minifloat_ieee(width=8,exponent_width=4,exponent_bias=7) has no code for nan",
                    [&] { encode("minifloat_ieee", NAN); });
  expect_user_error("has no code for inf", [&] { encode("minifloat_ieee(mode=mase)", INFINITY); });
  expect_user_error("has no code for 5e-09", [&] { encode("minifloat_denorm(mode=mase)", 5e-9f); });
}

TEST(Minifloat, FillsInTheBias) {
  EXPECT_EQ(to_string(format_of("minifloat_ieee")),
            "minifloat_ieee(width=8,exponent_width=4,exponent_bias=7)");
  EXPECT_EQ(to_string(format_of("minifloat_denorm(exponent_width=5,mode=mase)")),
            "minifloat_denorm(width=8,exponent_width=5,exponent_bias=15,mode=mase)");
}

TEST(Minifloat, RefusesWhatHasNoRoom) {
  expect_user_error("width=4 is too small for a sign and exponent_width=4; make it at least 5",
                    [] { format_of("minifloat_ieee(width=4)"); });
  expect_user_error(
      "width=5 is too small for a sign, a mantissa bit and exponent_width=4; make it at least 6",
      [] { format_of("minifloat_denorm(width=5)"); });
  expect_user_error("27 mantissa bits are more than a float has; make width at most 28",
                    [] { format_of("minifloat_ieee(width=32)"); });
  expect_user_error("exponents from -299 to -285 exceed those of a float",
                    [] { format_of("minifloat_ieee(exponent_bias=300)"); });
}

TEST(Minifloat, ObjectsToABiasThatLosesTheTensor) {
  const std::vector<float> weights = {0.04f, -0.05f, 0.06f, 0.07f};
  EXPECT_EQ(objection("minifloat_ieee", weights), "");
  EXPECT_EQ(objection("minifloat_ieee", {}), "");
  EXPECT_EQ(objection("minifloat_ieee", {0, 0}), "");
  EXPECT_EQ(objection("minifloat_ieee(exponent_bias=0)", weights),
            "exponent_bias=0 makes 0.25 the smallest magnitude, but the median magnitude "
            "of the values is 0.05, so most of them would be rounded to zero or up to it; "
            "use exponent_bias=19");
  EXPECT_EQ(objection("minifloat_ieee(exponent_bias=19)", weights), "");
  EXPECT_NE(objection("minifloat_denorm(exponent_bias=40)", weights).find("exponent_bias=18"),
            std::string::npos);
  EXPECT_EQ(objection("minifloat_denorm(exponent_bias=18)", weights), "");
}

}  // namespace
}  // namespace hone::testing
