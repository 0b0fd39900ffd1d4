#include "hone/formats/block_fp.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/formats/block_testing.h"
#include "tests/formats/formats_testing.h"
#include "tests/support/expect.h"

namespace hone::testing {
namespace {

// Includes exponents too narrow for the values, blocks of several rows, and one block for the whole tensor.
const std::vector<std::string> kBlockFpFormats = {
    "block_fp(width=8,exponent_width=8,block=16)",
    "block_fp(width=8,exponent_width=3,block=16)",
    "block_fp(width=4,exponent_width=8,exponent_bias=200,block=32)",
    "block_fp(width=2,exponent_width=8,block=8)",
    "block_fp(width=3,exponent_width=4,block=5)",
    "block_fp(width=24,exponent_width=8,block=16)",
    "block_fp(width=8,exponent_width=8,block=4,rows=3)",
    "block_fp(width=6,exponent_width=8,block=20,rows=2)",
    "block_fp(width=8,exponent_width=8,block=16,rows=1000000000)",
    "block_fp(width=8,exponent_width=8,block=1000000000)",
};

const std::vector<std::string> kMaseBlockFpFormats = {
    "block_fp(width=8,exponent_width=8,block=16,mode=mase)",
    "block_fp(width=6,exponent_width=3,block=4,rows=3,mode=mase)",
};

// A block list shorter than the tensor's rank is extended in front with full extents.
std::string text_of(const Json& parameters, std::size_t rank) {
  const auto block = parameters["block_size"].get<std::vector<int>>();
  const bool by_row = rank == 2 && parameters["skip_first_dim"].get<bool>();
  const int rows = by_row ? 1 : block.size() > 1 ? block[0] : 1000000000;
  const Json& bias = parameters["exponent_bias"];
  return fmt::format("block_fp(width={},exponent_width={},exponent_bias={},block={},rows={}",
                     parameters["width"].get<int>(), parameters["exponent_width"].get<int>(),
                     bias.is_null() ? "auto" : std::to_string(bias.get<int>()), block.back(), rows);
}

// The vectors use one-dimensional blocks for one-dimensional tensors, and one-row blocks for the tensor with
// skip_first_dim.
TEST(BlockFp, GivesTheValuesOfTheVectors) {
  const auto in_mode = [](const std::string& mode) {
    return check_vectors("block_fp", mode, [&](const Json& parameters) {
      return text_of(parameters, 2) + ",mode=" + mode + ")";
    });
  };
  EXPECT_GE(in_mode("fixed"), 24);
  // Both dimensions of the 2 x 2 tiles count, because their tensor has three.
  EXPECT_GE(check_vectors("block_fp", "mase",
                          [](const Json& parameters) -> std::string {
                            const bool tiles = parameters["block_size"].get<std::vector<int>>() ==
                                               std::vector<int>{2, 2};
                            return text_of(parameters, tiles ? 3 : 2) + ",mode=mase)";
                          }),
            24 + 15 + 18 + 12);
}

TEST(BlockFp, HasTheSameBitsFastAndSlow) {
  for (const std::string& format : kBlockFpFormats)
    check_fast_in_blocks(format,
                         static_cast<int>(std::min<std::int64_t>(32, format_of(format)["block"])));
  for (const std::string& format : kMaseBlockFpFormats)
    check_fast(format, any_values_in_runs(37 * 53, 5), {37, 53});
}

TEST(BlockFp, BlocksLieAlongAnyAxis) {
  check_axis("block_fp(block=8)");
  check_axis("block_fp(block=8,rows=3)");
  check_axis("block_fp(block=8,rows=3,mode=mase)");
}

TEST(BlockFp, IsIdempotentAndOdd) {
  for (const std::string& format : kBlockFpFormats) {
    check_idempotent(format, values_in_runs(2001, 16, 30), {29, 69});
    check_odd(format, values_in_runs(2001, 16, 30), {29, 69});
  }
  for (const std::string& format : kMaseBlockFpFormats)
    check_odd(format, values_in_runs(2001, 16, 10), {29, 69});
}

TEST(BlockFp, PacksItsCodes) {
  for (const std::string& format : kBlockFpFormats) {
    check_packs(format, values_in_runs(1001, 7, 130), {13, 77});
    check_packs(format, values_in_runs(1001, 7, 10), {13, 7, 11});
  }
  for (const std::string& format : kMaseBlockFpFormats)
    check_packs(format, values_in_runs(1001, 7, 8), {13, 77});
}

TEST(BlockFp, HasNoCodeForWhatItDoesNotQuantize) {
  const auto encode = [](const std::string& text, std::vector<float> x) {
    const Format format = format_of(text);
    format.def->encode({format, {static_cast<std::int64_t>(x.size())}, x, {}});
  };
  expect_user_error("has no code for nan", [&] { encode("block_fp", {1, NAN}); });
  expect_user_error("has no code for inf", [&] { encode("block_fp", {1, -INFINITY}); });
  expect_user_error("has no code for 1e-09", [&] { encode("block_fp(mode=mase)", {1, 1e-9f}); });
  expect_user_error("has no code for inf", [&] { encode("block_fp(mode=mase)", {1, INFINITY}); });
}

// Half a step is 2^-width of the power of two above the largest magnitude, and twice that if the magnitude rounds up to
// that power.
TEST(BlockFp, IsWithinHalfAStep) {
  const std::vector<float> x = values_in_runs(3200, 16, 20);
  const std::vector<float> y = fast("block_fp(width=6,block=16)", x);
  for (std::size_t first = 0; first < x.size(); first += 16) {
    float largest = 0;
    for (std::size_t i = first; i < first + 16; ++i) largest = std::max(largest, std::fabs(x[i]));
    if (largest == 0) continue;
    float half_step = std::ldexp(1.0f, std::ilogb(largest) + 1 - 6);
    if (largest >= 63 * half_step) half_step *= 2;
    for (std::size_t i = first; i < first + 16; ++i)
      EXPECT_LE(std::fabs(y[i] - x[i]), half_step) << x[i] << " in a block up to " << largest;
  }
}

TEST(BlockFp, RoundsTheLargestUpToAPowerOfTwo) {
  EXPECT_EQ(by_reference("block_fp(width=4,block=2)", {0.9375f, 0.3f}),
            (std::vector<float>{1, 0.25f}));
  EXPECT_EQ(by_reference("block_fp(width=4,block=2)", {0.93f, 0.3f}),
            (std::vector<float>{0.875f, 0.25f}));
  EXPECT_EQ(by_reference("block_fp(width=4,block=2,mode=mase)", {0.9375f, 0.3f}),
            (std::vector<float>{0.875f, 0.25f}));
}

TEST(BlockFp, SaturatesWhereExponentsEnd) {
  EXPECT_EQ(by_reference("block_fp(width=4,exponent_width=2,block=2)", {100, 1}),
            (std::vector<float>{3.5f, 1}));
  EXPECT_EQ(by_reference("block_fp(width=4,exponent_width=2,block=2)", {0.1f, 0.01f}),
            (std::vector<float>{0.125f, 0}));
  EXPECT_EQ(fast("block_fp(width=4,block=2)", {3.4e38f, 0}), (std::vector<float>{0x1.cp127f, 0}));
}

TEST(BlockFp, MakesABlockWithSomethingElseThanNumbersNan) {
  for (const float special : {NAN, INFINITY, -INFINITY}) {
    const std::vector<float> y = fast("block_fp(block=2)", {special, 1, 1, 0.5f});
    EXPECT_TRUE(std::isnan(y[0]) && std::isnan(y[1]));
    EXPECT_EQ(y[2], 1);
    EXPECT_EQ(y[3], 0.5f);
  }
}

TEST(BlockFp, InMaseModeInfinitiesBecomeNanAndTheLargestExponentSpoilsItsBlock) {
  const std::vector<float> y =
      fast("block_fp(exponent_width=4,block=2,mode=mase)", {INFINITY, 1, 1, NAN});
  EXPECT_TRUE(std::isnan(y[0]) && std::isnan(y[2]) && std::isnan(y[3]));
  EXPECT_EQ(y[1], 0);
  const std::vector<float> z = fast("block_fp(block=2,mode=mase)", {INFINITY, 1, 1, 1});
  EXPECT_TRUE(std::isnan(z[0]) && std::isnan(z[1]));
  EXPECT_EQ(z[2], 0.9921875f);
}

TEST(BlockFp, TakesBitsAndAnExponentForEveryBlock) {
  EXPECT_EQ(average_bits(format_of("block_fp(width=8,block=16)"), {10, 64}), 8.5);
  EXPECT_EQ(average_bits(format_of("block_fp(width=8,block=16,rows=4)"), {8, 64}), 8.125);
  EXPECT_EQ(average_bits(format_of("block_fp(width=6,exponent_width=4,block=16)"), {2, 24}),
            6 + 16.0 / 48);
}

TEST(BlockFp, SpellsOutItsParameters) {
  EXPECT_EQ(to_string(format_of("block_fp")),
            "block_fp(width=8,exponent_width=8,exponent_bias=127,block=16,rows=1,axis=-1)");
  EXPECT_EQ(format_of("block_fp(exponent_width=4)")["exponent_bias"], 7);
}

TEST(BlockFp, RefusesWhatItCannotDo) {
  expect_user_error("exponents from 200 to 203 exceed those of a float; use exponent_bias=auto",
                    [] { format_of("block_fp(exponent_width=2,exponent_bias=-200)"); });
  expect_user_error("block=0 is outside 1", [] { format_of("block_fp(block=0)"); });
  expect_user_error("width=1 is outside 2", [] { format_of("block_fp(width=1)"); });
}

}  // namespace
}  // namespace hone::testing
