#include "hone/formats/block_minifloat.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/formats/block_testing.h"
#include "tests/formats/formats_testing.h"
#include "tests/support/expect.h"

namespace hone::testing {
namespace {

const std::vector<std::string> kBlockMinifloatFormats = {
    "block_minifloat(width=8,exponent_width=4,block=16)",
    "block_minifloat(width=8,exponent_width=2,block=32)",
    "block_minifloat(width=5,exponent_width=2,exponent_bias_width=4,block=8)",
    "block_minifloat(width=5,exponent_width=4,block=5)",
    "block_minifloat(width=3,exponent_width=1,block=16)",
    "block_minifloat(width=16,exponent_width=8,block=16)",
    "block_minifloat(width=25,exponent_width=1,block=16)",
    "block_minifloat(width=8,exponent_width=4,block=4,rows=3)",
};

const std::vector<std::string> kMaseBlockMinifloatFormats = {
    "block_minifloat(width=8,exponent_width=4,block=16,mode=mase)",
    "block_minifloat(width=8,exponent_width=5,exponent_bias_width=3,block=4,rows=3,mode=mase)",
};

int block_minifloats_compared(const std::string& mode) {
  return check_vectors("block_minifloat", mode, [&](const Json& parameters) {
    return fmt::format(
        "block_minifloat(width={},exponent_width={},exponent_bias_width={},block={},mode={})",
        parameters["width"].get<int>(), parameters["exponent_width"].get<int>(),
        parameters["exponent_bias_width"].get<int>(), parameters["block_size"][0].get<int>(), mode);
  });
}

TEST(BlockMinifloat, GivesTheValuesOfTheVectors) {
  EXPECT_GE(block_minifloats_compared("fixed"), 48);
  EXPECT_GE(block_minifloats_compared("mase"), 48);
}

TEST(BlockMinifloat, HasTheSameBitsFastAndSlow) {
  for (const std::string& format : kBlockMinifloatFormats)
    check_fast_in_blocks(format, static_cast<int>(format_of(format)["block"]));
  for (const std::string& format : kMaseBlockMinifloatFormats)
    check_fast(format, any_values_in_runs(37 * 53, 5), {37, 53});
}

TEST(BlockMinifloat, BlocksLieAlongAnyAxis) {
  check_axis("block_minifloat(block=8)");
  check_axis("block_minifloat(block=8,rows=3,mode=mase)");
}

TEST(BlockMinifloat, IsIdempotentAndOdd) {
  for (const std::string& format : kBlockMinifloatFormats) {
    check_idempotent(format, values_in_runs(2001, 16, 30), {29, 69});
    check_odd(format, values_in_runs(2001, 16, 30), {29, 69});
  }
  for (const std::string& format : kMaseBlockMinifloatFormats)
    check_odd(format, values_in_runs(2001, 16, 10), {29, 69});
}

TEST(BlockMinifloat, PacksItsCodes) {
  for (const std::string& format : kBlockMinifloatFormats) {
    check_packs(format, values_in_runs(1001, 7, 130), {13, 77});
    check_packs(format, values_in_runs(1001, 7, 10), {13, 7, 11});
  }
  for (const std::string& format : kMaseBlockMinifloatFormats)
    check_packs(format, values_in_runs(1001, 7, 6), {13, 77});
}

TEST(BlockMinifloat, HasNoCodeForWhatItDoesNotQuantize) {
  const auto encode = [](const std::string& text, std::vector<float> x) {
    const Format format = format_of(text);
    format.def->encode({format, {static_cast<std::int64_t>(x.size())}, x, {}});
  };
  expect_user_error("has no code for nan", [&] { encode("block_minifloat", {1, NAN}); });
  expect_user_error("has no code for inf", [&] { encode("block_minifloat", {1, INFINITY}); });
  expect_user_error("has no code for 1e-09", [&] {
    encode("block_minifloat(mode=mase)", {1, 1e-9f});
  });
}

// E4M3 below a top binade of 2^t: 3 bits after the leading one, steps of at least 2^(t-14-3).
TEST(BlockMinifloat, IsWithinHalfAStepWhereNothingSaturates) {
  const std::vector<float> x = values_in_runs(3200, 16, 20);
  const std::vector<float> y = fast("block_minifloat(width=8,exponent_width=4,block=16)", x);
  for (std::size_t first = 0; first < x.size(); first += 16) {
    float largest = 0;
    for (std::size_t i = first; i < first + 16; ++i) largest = std::max(largest, std::fabs(x[i]));
    if (largest == 0) continue;
    const int top = std::ilogb(largest);
    for (std::size_t i = first; i < first + 16; ++i) {
      if (x[i] == 0 || std::fabs(x[i]) > std::ldexp(1.875f, top)) continue;
      const float step = std::ldexp(1.0f, std::max(std::ilogb(x[i]), top - 14) - 3);
      EXPECT_LE(std::fabs(y[i] - x[i]), step / 2) << x[i] << " in a block up to " << largest;
    }
  }
}

TEST(BlockMinifloat, PutsTheLargestIntoTheTopmostBinade) {
  EXPECT_EQ(by_reference("block_minifloat(width=5,exponent_width=2,block=4)",
                         {0.19f, 0.05f, 0.03f, 0.004f}),
            (std::vector<float>{0.1875f, 0.046875f, 0.03125f, 0.0078125f}));
  EXPECT_EQ(by_reference("block_minifloat(width=5,exponent_width=2,block=2)", {1.99f, 0.1f}),
            (std::vector<float>{1.75f, 0.125f}));
}

// Two bits store top binades from 2^-2 to 2^1.
TEST(BlockMinifloat, SaturatesWhereTheSharedBitsEnd) {
  const std::string format =
      "block_minifloat(width=5,exponent_width=2,exponent_bias_width=2,block=2)";
  EXPECT_EQ(by_reference(format, {100, 1}), (std::vector<float>{3.5f, 1}));
  EXPECT_EQ(by_reference(format, {0.01f, 0.02f}), (std::vector<float>{0.015625f, 0.015625f}));
}

TEST(BlockMinifloat, MakesABlockWithSomethingElseThanNumbersNan) {
  for (const float special : {NAN, INFINITY, -INFINITY}) {
    const std::vector<float> y = fast("block_minifloat(block=2)", {special, 1, 1, 0.5f});
    EXPECT_TRUE(std::isnan(y[0]) && std::isnan(y[1]));
    EXPECT_EQ(y[2], 1);
    EXPECT_EQ(y[3], 0.5f);
  }
}

TEST(BlockMinifloat, ObjectsToModesThatLoseMostValues) {
  Observation seen;
  seen.include(std::vector<float>{0.01f, -0.05f, 0.02f, 0.3f, -0.04f});
  const auto objection = [&](const std::string& text) {
    const Format format = format_of(text);
    return format.def->objection(format, seen);
  };
  EXPECT_EQ(objection("block_minifloat"), "");
  EXPECT_NE(objection("block_minifloat(mode=mase)").find("use mode=fixed"), std::string::npos);
  EXPECT_NE(objection("block_minifloat(width=4,exponent_width=1,exponent_bias_width=1)")
                .find("use exponent_bias_width=8"),
            std::string::npos);
}

TEST(BlockMinifloat, TakesBitsAndABiasForEveryBlock) {
  EXPECT_EQ(average_bits(format_of("block_minifloat(width=8,block=16)"), {10, 64}), 8.5);
  EXPECT_EQ(average_bits(format_of("block_minifloat(exponent_bias_width=4,block=16)"), {10, 64}),
            8.25);
}

TEST(BlockMinifloat, SpellsOutItsParameters) {
  EXPECT_EQ(to_string(format_of("block_minifloat")),
            "block_minifloat(width=8,exponent_width=4,exponent_bias_width=8,block=16,rows=1,"
            "axis=-1)");
}

TEST(BlockMinifloat, RefusesWhatItCannotDo) {
  expect_user_error("width=4 is too small for a sign and exponent_width=4; make it at least 5",
                    [] { format_of("block_minifloat(width=4)"); });
  expect_user_error("27 mantissa bits are more than a float has; make width at most 28",
                    [] { format_of("block_minifloat(width=32)"); });
}

}  // namespace
}  // namespace hone::testing
