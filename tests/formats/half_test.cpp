#include "hone/formats/half.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "tests/formats/formats_testing.h"

namespace hone::testing {
namespace {

const std::vector<std::string> kHalfFormats = {"bf16", "fp16"};

// Returns the values of the bit patterns from 0 to infinity.
std::vector<float> magnitudes(const std::string& text, std::uint32_t infinity) {
  const Format format = format_of(text);
  Codes codes;
  codes.elements.resize(infinity + 1);
  std::iota(codes.elements.begin(), codes.elements.end(), 0u);
  std::vector<float> values(codes.elements.size());
  format.def->decode({format, {static_cast<std::int64_t>(values.size())}, {}, {}}, codes, values);
  return values;
}

TEST(Half, HasTheSameBitsFastAndSlow) {
  for (const std::string& format : kHalfFormats) {
    check_fast(format, any_values(100003), {});
    check_fast(format, any_values(17), {});
  }
}

TEST(Half, IsIdempotentAndOddAndMonotone) {
  for (const std::string& format : kHalfFormats) {
    check_idempotent(format, finite_values(2000), {});
    check_odd(format, finite_values(2000), {});
    check_monotone(format);
  }
}

TEST(Half, PacksItsCodes) {
  for (const std::string& format : kHalfFormats) check_packs(format, any_values(2001), {});
}

TEST(Half, KnowsTheValuesOfPatterns) {
  EXPECT_EQ(magnitudes("bf16", 0x7f80)[0x3f81], 1.0078125f);
  EXPECT_EQ(magnitudes("fp16", 0x7c00)[0x3c01], 1.0009765625f);
  EXPECT_EQ(magnitudes("fp16", 0x7c00)[1], 0x1p-24f);
}

// The midpoint of neighbouring bit patterns rounds to the even one.
void check_middles(const std::string& format, std::uint32_t infinity) {
  const std::vector<float> values = magnitudes(format, infinity);
  std::vector<float> x, expected;
  for (std::uint32_t i = 0; i + 1 < infinity; ++i) {
    const float low = values[i], high = values[i + 1];
    const auto middle = static_cast<float>((static_cast<double>(low) + high) / 2);
    for (const float value :
         {low, std::nextafter(middle, low), middle, std::nextafter(middle, high)})
      x.push_back(value);
    for (const float value : {low, low, i % 2 == 0 ? low : high, high}) expected.push_back(value);
  }
  EXPECT_EQ(by_reference(format, x), expected) << format;
  EXPECT_EQ(fast(format, x), expected) << format;
}

TEST(Half, RoundsToTheNearestPattern) {
  check_middles("bf16", 0x7f80);
  check_middles("fp16", 0x7c00);
}

TEST(Half, OverflowsToInfinityHalfAStepAboveTheLargest) {
  EXPECT_EQ(fast("fp16", {65519.99f, 65520, -65520, 1e38f, INFINITY, -INFINITY}),
            (std::vector<float>{65504, INFINITY, -INFINITY, INFINITY, INFINITY, -INFINITY}));
  EXPECT_EQ(fast("bf16", {0x1.fefffep127f, 0x1.ffp127f, -0x1.ffp127f}),
            (std::vector<float>{0x1.fep127f, INFINITY, -INFINITY}));
}

TEST(Half, KeepsNan) {
  for (const std::string& format : kHalfFormats) {
    EXPECT_TRUE(std::isnan(by_reference(format, {NAN})[0])) << format;
    EXPECT_TRUE(std::isnan(fast(format, {NAN})[0])) << format;
  }
}

TEST(Half, TakesSixteenBits) {
  for (const std::string& format : kHalfFormats)
    EXPECT_EQ(average_bits(format_of(format), {1000}), 16) << format;
}

}  // namespace
}  // namespace hone::testing
