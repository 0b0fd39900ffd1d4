#include "hone/formats/block_log.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/formats/block_testing.h"
#include "tests/formats/formats_testing.h"
#include "tests/support/expect.h"

namespace hone::testing {
namespace {

const std::vector<std::string> kBlockLogFormats = {
    "block_log(width=8,block=16)",
    "block_log(width=4,block=32)",
    "block_log(width=2,block=8)",
    "block_log(width=16,block=5)",
    "block_log(width=5,exponent_bias_width=3,block=16)",
    "block_log(width=5,block=4,rows=3)",
};

const std::vector<std::string> kMaseBlockLogFormats = {
    "block_log(width=8,block=16,mode=mase)",
    "block_log(width=4,block=8,rows=3,mode=mase)",
    "block_log(width=8,exponent_bias_width=2,block=5,mode=mase)",
    "block_log(width=16,block=16,mode=mase)",
};

int block_logs_compared(const std::string& mode) {
  return check_vectors("block_log", mode, [&](const Json& parameters) {
    return fmt::format("block_log(width={},exponent_bias_width={},block={},mode={})",
                       parameters["width"].get<int>(), parameters["exponent_bias_width"].get<int>(),
                       parameters["block_size"][0].get<int>(), mode);
  });
}

TEST(BlockLog, GivesTheValuesOfTheVectors) {
  EXPECT_GE(block_logs_compared("fixed"), 24);
  EXPECT_GE(block_logs_compared("mase"), 96);
}

TEST(BlockLog, HasTheSameBitsFastAndSlow) {
  for (const std::string& format : kBlockLogFormats)
    check_fast_in_blocks(format, static_cast<int>(format_of(format)["block"]));
  for (const std::string& format : kMaseBlockLogFormats)
    check_fast(format, any_values_in_runs(37 * 53, 5), {37, 53});
}

TEST(BlockLog, BlocksLieAlongAnyAxis) {
  check_axis("block_log(block=8)");
  check_axis("block_log(block=8,rows=3,mode=mase)");
}

TEST(BlockLog, IsIdempotentAndOdd) {
  for (const std::string& format : kBlockLogFormats) {
    check_idempotent(format, values_in_runs(2001, 16, 30), {29, 69});
    check_odd(format, values_in_runs(2001, 16, 30), {29, 69});
  }
}

TEST(BlockLog, PacksItsCodes) {
  for (const std::string& format : kBlockLogFormats) {
    check_packs(format, values_in_runs(1001, 7, 130), {13, 77});
    check_packs(format, values_in_runs(1001, 7, 10), {13, 7, 11});
  }
  for (const std::string& format : kMaseBlockLogFormats)
    check_packs(format, values_in_runs(1001, 7, 8), {13, 77});
}

TEST(BlockLog, HasNoCodeForWhatIsNoNumber) {
  for (const std::string text : {"block_log", "block_log(mode=mase)"}) {
    const Format format = format_of(text);
    const std::vector<float> x = {1, NAN};
    expect_user_error("has no code for nan", [&] { format.def->encode({format, {2}, x, {}}); });
  }
}

// The rounding boundary between two powers of two is sqrt(2) times the lower one. So no value is off by more than that
// factor, and only values below the smallest power become zero.
TEST(BlockLog, IsWithinHalfAnOctave) {
  const std::vector<float> x = values_in_runs(3200, 16, 20);
  const std::vector<float> y = fast("block_log(width=4,block=16)", x);
  for (std::size_t first = 0; first < x.size(); first += 16) {
    float largest = 0;
    for (std::size_t i = first; i < first + 16; ++i) largest = std::max(largest, std::fabs(x[i]));
    for (std::size_t i = first; i < first + 16; ++i) {
      if (y[i] == 0) {
        EXPECT_LE(std::fabs(x[i]), largest * 0x1p-5f) << x[i] << " in a block up to " << largest;
      } else {
        EXPECT_LE(std::fabs(std::log2(y[i] / x[i])), 0.5f) << x[i];
      }
    }
  }
}

TEST(BlockLog, HasThePowersBelowTheLargestMagnitude) {
  EXPECT_EQ(by_reference("block_log(width=3,block=4)", {0.9f, -0.3f, 0.2f, 0.1f}),
            (std::vector<float>{1, -0.25f, 0.25f, 0}));
  EXPECT_EQ(by_reference("block_log(width=3,block=4)", {1.2f, 0.5f, 0.4f, 0}),
            (std::vector<float>{1, 0.5f, 0.5f, 0}));
}

TEST(BlockLog, LeavesPowersOutThatAreNoNormalFloats) {
  EXPECT_EQ(fast("block_log(block=3)", {0x1p-126f, 0x1p-127f, 0x1.7p-127f}),
            (std::vector<float>{0x1p-126f, 0, 0x1p-126f}));
  EXPECT_EQ(fast("block_log(block=2)", {0x1p-130f, 0x1p-149f}), (std::vector<float>{0, 0}));
  EXPECT_EQ(fast("block_log(block=2)", {3.4e38f, 0x1p127f}),
            (std::vector<float>{0x1p127f, 0x1p127f}));
}

TEST(BlockLog, InMaseModeHasNoZero) {
  EXPECT_EQ(fast("block_log(width=4,block=2,mode=mase)", {0, 0, 0, 0}),
            (std::vector<float>(4, 0x1p-7f)));
  EXPECT_EQ(fast("block_log(width=4,block=2,mode=mase)", {0, 0, 4, 16, 2, -0.0001f}),
            (std::vector<float>{0x1p-6f, 0x1p-6f, 4, 16, 2, 0x1p-6f}));
}

TEST(BlockLog, MakesABlockWithSomethingElseThanNumbersNan) {
  for (const float special : {NAN, INFINITY, -INFINITY}) {
    const std::vector<float> y = fast("block_log(block=2)", {special, 1, 1, 0.5f});
    EXPECT_TRUE(std::isnan(y[0]) && std::isnan(y[1]));
    EXPECT_EQ(y[2], 1);
    EXPECT_EQ(y[3], 0.5f);
  }
}

TEST(BlockLog, ObjectsToBiasesThatRaiseMostValues) {
  Observation seen;
  seen.include(std::vector<float>{0.01f, -0.05f, 0.02f, 0.3f, -0.04f});
  const auto objection = [&](const std::string& text) {
    const Format format = format_of(text);
    return format.def->objection(format, seen);
  };
  EXPECT_EQ(objection("block_log"), "");
  EXPECT_EQ(objection("block_log(mode=mase)"), "");
  EXPECT_EQ(objection("block_log(exponent_bias_width=2,mode=mase)"),
            "exponent_bias_width=2 makes 0.125 the smallest magnitude, but the median "
            "magnitude of the values is 0.04, so most of them would be rounded to zero or "
            "up to it; use exponent_bias_width=8");
}

TEST(BlockLog, TakesBitsAndABiasForEveryBlock) {
  EXPECT_EQ(average_bits(format_of("block_log(width=4,block=16)"), {10, 64}), 4.5);
}

TEST(BlockLog, SpellsOutItsParameters) {
  EXPECT_EQ(to_string(format_of("block_log")),
            "block_log(width=8,exponent_bias_width=8,block=16,rows=1,axis=-1)");
}

}  // namespace
}  // namespace hone::testing
