#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "hone/runtime/library.h"
#include "tests/formats/formats_testing.h"

// The format of the example plugin, examples/apot/apot.cpp, which is compiled into this program.
extern "C" void hone_extend(hone::Library& library);

namespace hone::testing {
namespace {

class Apot : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    Library library;
    hone_extend(library);
    for (const auto& [name, def] : library.formats) add_format(def);
  }
};

const std::vector<std::string> kApotFormats = {"apot", "apot(block=1)", "apot(block=16)",
                                               "apot(block=100)"};

TEST_F(Apot, RoundsToTheNearestLevelOfTheBlock) {
  // Levels times 2: 0, 0.2, 0.4, 0.6, 0.8, 1.2, 1.6, 2. The second block is all zeros.
  const std::vector<float> y =
      by_reference("apot(block=6)", {2, 1.7f, -2, 0.09f, 0.11f, -1.1f, 0, 0, 0, 0, 0, 0});
  EXPECT_EQ(y, (std::vector<float>{2, 2 * 0.8f, -2, 0, 2 * 0.1f, -2 * 0.6f, 0, 0, 0, 0, 0, 0}));
}

// Every level of a block with largest magnitude 1 keeps its value, sign and code.
TEST_F(Apot, CodesAreTheNumbersOfTheLevels) {
  const Format format = format_of("apot(block=16)");
  Codes codes{{}, {0x3f800000}};
  for (std::uint32_t code = 0; code < 16; ++code) codes.elements.push_back(code == 8 ? 0 : code);
  std::vector<float> levels(16);
  format.def->decode({format, {16}, {}, {}}, codes, levels);
  EXPECT_EQ(levels[0], 0);
  EXPECT_EQ(levels[7], 1);
  EXPECT_EQ(levels[15], -1);
  const Codes again = format.def->encode({format, {16}, levels, {}});
  EXPECT_EQ(again.elements, codes.elements);
  EXPECT_EQ(again.shared, codes.shared);
}

TEST_F(Apot, BlocksEndWithTheirRow) {
  // The 4 in the second row must not affect the values before or after it.
  const std::vector<float> y = by_reference("apot(block=2)", {1, 1, 3, 4, 4, 0.5f}, {2, 3});
  EXPECT_EQ(y, (std::vector<float>{1, 1, 3, 4, 4, 0.5f}));
}

TEST_F(Apot, BlocksWithoutAScaleBecomeNaN) {
  const std::vector<float> y = by_reference("apot(block=2)", {1, NAN, INFINITY, 0, 1, 1});
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(std::isnan(y[static_cast<std::size_t>(i)])) << i;
  EXPECT_EQ(y[4], 1);
  check_packs("apot(block=2)", {1, 2, 3, NAN, 5, 6}, {6});
}

TEST_F(Apot, HasTheSameBitsFastAndSlow) {
  for (const std::string& format : kApotFormats) {
    check_fast(format, any_values(70003), {});
    check_fast(format, any_values(37 * 131), {37, 131});
    check_fast(format, any_values(3 * 5 * 17), {3, 5, 17});
    check_fast(format, {-3.0f}, {1});
    check_fast(format, {}, {4, 0});
  }
}

TEST_F(Apot, IsIdempotentAndPacks) {
  for (const std::string& format : kApotFormats) {
    check_idempotent(format, finite_values(4001), {});
    check_packs(format, finite_values(7 * 99), {7, 99});
  }
}

// The largest gap between levels is 0.2. Half of it times the scale is the largest error.
TEST_F(Apot, IsOffByHalfAGapAtMost) {
  const std::vector<float> x = finite_values(6400);
  const std::vector<float> y = by_reference("apot", x);
  for (std::size_t b = 0; b < x.size(); b += 64) {
    float scale = 0;
    for (std::size_t i = b; i < b + 64; ++i) scale = std::max(scale, std::fabs(x[i]));
    for (std::size_t i = b; i < b + 64; ++i)
      ASSERT_LE(std::fabs(x[i] - y[i]), 0.1001f * scale) << i;
  }
}

}  // namespace
}  // namespace hone::testing
