#include "hone/app/format_facts.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/app/app_testing.h"
#include "tests/support/expect.h"

namespace hone {
namespace {

using testing::format_called;

FormatGrid grid_of(std::string_view format) { return format_grid(format_called(format)); }
SpelledNumber spelled(std::string_view format, float value) {
  return spell(format_called(format), value);
}

TEST(FormatGrid, OfIntegerIsItsMultiples) {
  const FormatGrid grid = grid_of("integer(width=3,frac=1)");
  EXPECT_EQ(grid.values, (std::vector<float>{-2, -1.5, -1, -0.5, 0, 0.5, 1, 1.5}));
  EXPECT_EQ(grid.lowest, -2);
  EXPECT_EQ(grid.highest, 1.5);
  EXPECT_EQ(grid.smallest_step, 0.5);
  EXPECT_EQ(grid.average_bits, 3);
}

// The block's largest magnitude is 1, whose exponent is 2 below that of the largest element.
TEST(FormatGrid, OfABlockFormatIsScaledByTheBlocksPowerOfTwo) {
  const FormatGrid grid = grid_of("mxfp(element=e2m1)");
  std::vector<float> expected;
  for (const float element :
       {-6.f, -4.f, -3.f, -2.f, -1.5f, -1.f, -.5f, 0.f, .5f, 1.f, 1.5f, 2.f, 3.f, 4.f, 6.f})
    expected.push_back(element / 4);
  EXPECT_EQ(grid.values, expected);
  EXPECT_EQ(grid.smallest_step, 0.125);
  EXPECT_EQ(grid.average_bits, 4 + 8 / 32.0);
}

TEST(FormatGrid, OfACalibratedFormatHoldsOne) {
  // 2^frac at most 127 for a magnitude of 1
  const FormatGrid fixed_point = grid_of("integer(width=8)");
  EXPECT_EQ(fixed_point.smallest_step, 0x1p-6f);
  EXPECT_EQ(fixed_point.lowest, -2);
  const FormatGrid scaled = grid_of("int(bits=4)");
  ASSERT_EQ(scaled.values.size(), 16u);  // the code of -8 stands for a value that is never written
  EXPECT_FLOAT_EQ(scaled.highest, 1);
  EXPECT_NEAR(scaled.smallest_step, 1 / 7.0, 1e-6);
}

// 2^16 codes without those of 2^11 infinities and NaN; the two zeros are one value.
TEST(FormatGrid, OfFp16IsThatOfIeee) {
  const FormatGrid grid = grid_of("fp16");
  EXPECT_EQ(grid.values.size(), 65536u - 2048u - 1u);
  EXPECT_EQ(grid.lowest, -65504);
  EXPECT_EQ(grid.highest, 65504);
  EXPECT_EQ(grid.smallest_step, 0x1p-24f);
  EXPECT_EQ(grid.average_bits, 16);
}

TEST(FormatGrid, OfMoreThanSixteenBitsIsItsEndsOnly) {
  const FormatGrid grid = grid_of("integer(width=17,frac=4)");
  EXPECT_TRUE(grid.values.empty());
  EXPECT_EQ(grid.lowest, -4096);
  EXPECT_EQ(grid.highest, 4096 - 0x1p-4f);
  EXPECT_EQ(grid.smallest_step, 0);
}

TEST(FormatGrid, OfALongBlockFormatIsThatOfABlockOfOne) {
  for (const char* format : {"block_fp(width=20)", "mxint(bits=20)"}) {
    const FormatGrid grid = grid_of(format);
    EXPECT_TRUE(grid.values.empty());
    EXPECT_NEAR(grid.highest, 2, 1e-4) << format;
    EXPECT_NEAR(grid.lowest, -2, 1e-4) << format;
  }
}

TEST(FormatGrid, HoldsWhatTheFormatRoundsTo) {
  for (const auto& [name, def] : testing::builtin().formats) {
    const Format format = parse_format(name, testing::builtin().formats);
    SCOPED_TRACE(to_string(format));
    const FormatGrid grid = format_grid(format);
    EXPECT_TRUE(std::ranges::is_sorted(grid.values, std::ranges::less_equal()));
    // alone in its block and with the state it has there, 1 becomes a value of the grid
    const float one = spell(format, 1).quantized;
    EXPECT_TRUE(std::ranges::binary_search(grid.values, one)) << one;
    EXPECT_GE(grid.average_bits, 1);
  }
}

// 0.3 = 1.2 2^-2; of eighths 1.25 is the nearest. The exponent field is -2 + 7.
TEST(SpelledNumber, OfAMinifloatIsTheOneByHand) {
  const SpelledNumber number = spelled("minifloat_ieee(width=8,exponent_width=4)", 0.3f);
  EXPECT_EQ(number.value, 0.3f);
  EXPECT_EQ(number.quantized, 0.3125f);
  EXPECT_EQ(number.code, "0 0101 010");
  EXPECT_EQ(number.shared, "");
  EXPECT_EQ(number.parts,
            (std::vector<std::string>{"sign 0", "exponent 0101 = 5 - 7", "fraction 010"}));
  EXPECT_EQ(spelled("minifloat_ieee(width=8,exponent_width=4)", -0.3f).code, "1 0101 010");
}

// Two's complement: 0.3 is 4.8 sixteenths.
TEST(SpelledNumber, OfAnIntegerIsTwosComplement) {
  EXPECT_EQ(spelled("integer(width=8,frac=4)", 0.3f).code, "00000101");
  const SpelledNumber number = spelled("integer(width=8,frac=4)", -0.3f);
  EXPECT_EQ(number.code, "11111011");
  EXPECT_EQ(number.quantized, -0.3125f);
  EXPECT_EQ(number.parts, std::vector<std::string>{"integer 11111011"});
}

// The block's exponent is -2, stored with 127; 0.3 2^2 64 = 76.8.
TEST(SpelledNumber, OfABlockFormatHasASharedCode) {
  const SpelledNumber number = spelled("mxint(bits=8)", 0.3f);
  EXPECT_EQ(number.quantized, 77 / 256.0f);
  EXPECT_EQ(number.code, "01001101");
  EXPECT_EQ(number.shared, "01111101");
}

TEST(SpelledNumber, OfInfinityIsItsCodeWhereThereIsOne) {
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(spelled("fp16", infinity).code, "0 11111 0000000000");
  EXPECT_EQ(spelled("integer(width=4,frac=0)", -infinity).quantized, -8);
}

TEST(SpelledNumber, RefusesNumbersWithoutCode) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  expect_user_error("integer(width=8,frac=4)", [&] { spelled("integer(width=8,frac=4)", nan); });
  expect_user_error("minifloat_ieee", [&] { spelled("minifloat_ieee(width=8)", nan); });
}

TEST(QuantizerKernels, EndWithTheReference) {
  Library library = builtin_library();
  const std::vector<std::string> names = quantizer_kernels(library);
  EXPECT_GT(names.size(), 1u);
  EXPECT_EQ(names.back(), "reference");
  library.kernels.clear();
  EXPECT_EQ(quantizer_kernels(library), std::vector<std::string>{"reference"});
}

}  // namespace
}  // namespace hone
