#include "hone/study/format_grid.h"

#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <set>

#include "hone/formats/calibrate.h"
#include "tests/support/expect.h"
#include "tests/support/tiny_jobs.h"

namespace hone {
namespace {

using testing::format_called;

FormatGrid grid_of(std::string_view format) { return format_grid(format_called(format)); }
QuantizedNumber spelled(std::string_view format, float value) {
  return quantize_numbers(format_called(format), {&value, 1}).numbers[0];
}
QuantizedNumbers quantized_together(std::string_view format, const std::vector<float>& values) {
  return quantize_numbers(format_called(format), values);
}

TEST(FormatGrid, OfIntegerIsItsMultiples) {
  const FormatGrid grid = grid_of("integer(width=3,frac=1)");
  EXPECT_EQ(grid.values, (std::vector<float>{-2, -1.5, -1, -0.5, 0, 0.5, 1, 1.5}));
  EXPECT_EQ(grid.lowest, -2);
  EXPECT_EQ(grid.highest, 1.5);
  EXPECT_EQ(grid.smallest_step, 0.5);
  EXPECT_EQ(grid.average_bits, 3);
}

// fp32 is coarser near 1 than near 0.
TEST(FormatGrid, KnowsTheStepWhereItIsRoundedLeast) {
  EXPECT_EQ(grid_of("int(bits=8)").smallest_step, 1.0f / 127);
}

// The block's largest magnitude is 1. Its exponent is 2 less than that of the largest element.
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
  ASSERT_EQ(scaled.values.size(), 15u);  // symmetric: the code of -8 is never used
  EXPECT_FLOAT_EQ(scaled.lowest, -1);
  ASSERT_EQ(scaled.unwritten.size(), 1u);
  EXPECT_FLOAT_EQ(scaled.unwritten[0], -8 / 7.0f);
  const FormatGrid affine = grid_of("int(bits=8,range=affine,scale=dynamic)");
  EXPECT_GE(affine.values.size(), 255u);  // the lowest code is half a step below -1
  EXPECT_NEAR(affine.lowest, -1, 0.01);
  EXPECT_NEAR(affine.highest, 1, 0.01);
  EXPECT_FLOAT_EQ(scaled.highest, 1);
  EXPECT_NEAR(scaled.smallest_step, 1 / 7.0, 1e-6);
}

// 2^16 codes without 2^11 infinities and NaNs. The two zeros are one value.
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

TEST(FormatGrid, LeavesOutTheCodeThatSymmetricRoundingNeverWrites) {
  const FormatGrid grid = grid_of("mxint(bits=8)");
  EXPECT_EQ(grid.values.size(), 255u);
  EXPECT_EQ(grid.lowest, -127 / 64.0f);
  EXPECT_EQ(grid.highest, 127 / 64.0f);
  EXPECT_EQ(grid.unwritten, std::vector<float>{-2});
  // Also with too many codes to list.
  EXPECT_GT(grid_of("mxint(bits=20)").lowest, -2);
}

bool takes(const Format& format, std::int64_t count) {
  try {
    format.def->layout(format, {count});
    return true;
  } catch (const UserError&) {
    return false;
  }
}

// Returns the values that the quantizer gives for very many inputs next to -1 and 1, as far as these keep their shared
// codes.
std::vector<float> reached(const Format& format) {
  std::vector<float> inputs;
  for (int exponent = -149; exponent <= 127; ++exponent)
    for (int step = 0; step < 128; ++step)
      inputs.push_back(std::ldexp(1 + static_cast<float>(step) / 128, exponent));
  for (int i = 0; i <= 1 << 14; ++i) inputs.push_back(static_cast<float>(i) / (1 << 12));
  for (int i = 0; i <= 120; ++i) inputs.push_back(static_cast<float>(i) / 60);  // sums of thirds
  std::int64_t count = 3;  // -1, 1 and the value; mode=mase takes whole blocks
  while (!takes(format, count)) ++count;
  std::vector<float> x(static_cast<std::size_t>(count), 0.0f), y(x.size());
  x[0] = x[1] = -1;
  x[2] = 1;
  const Sizes sizes = {count};
  const std::vector<Tensor> state = calibrate_tensor(format, sizes, x);
  const auto shared_codes = [&]() -> std::optional<std::vector<std::uint32_t>> {
    try {
      return format.def->encode({format, sizes, x, state}).shared;
    } catch (const UserError&) {
      return std::nullopt;  // a value without a code
    }
  };
  const std::vector<std::uint32_t> shared = *shared_codes();
  std::set<float> values;
  for (const float magnitude : inputs) {
    for (const float value : {magnitude, -magnitude}) {
      x[0] = value;
      if (!shared.empty() && shared_codes() != shared) continue;
      format.def->quantize_reference({format, sizes, x, state}, y);
      if (std::isfinite(y[0])) values.insert(y[0] == 0 ? 0.0f : y[0]);
    }
  }
  return {values.begin(), values.end()};
}

// Small variants of every format, so that the inputs reach all of their values.
std::vector<std::string> small_formats() {
  std::vector<std::string> texts = {"integer(width=8,frac=4)",
                                    "integer(width=8,frac=0,sign=unsigned)",
                                    "int(bits=8,range=affine)",
                                    "int(bits=8,range=affine,scale=dynamic)",
                                    "int(bits=8,per=token)",
                                    "int(bits=6,scale=learned)",
                                    "mxint(bits=4,block=2)",
                                    "mxint(bits=8,scale=ceil)",
                                    "mxfp(element=e5m2)",
                                    "mxfp(element=e3m2)",
                                    "mxfp(element=e2m3)",
                                    "mxfp(element=e2m1,scale=ceil)",
                                    "binary(scale=none)",
                                    "binary_scaling(scale=learned)",
                                    "binary_residual_sign(levels=3)",
                                    "ternary(scale=none)",
                                    "ternary(per=tensor)",
                                    "ternary(scale=learned)"};
  for (const auto& [name, def] : testing::builtin().formats) {
    const bool long_codes = name == "bf16" || name == "fp16";
    if (long_codes) continue;
    texts.push_back(name);
    if (std::ranges::find(def.parameters, "mode", &FormatParameterDef::name) !=
        def.parameters.end())
      texts.push_back(name + "(mode=mase)");
  }
  return texts;
}

TEST(FormatGrid, ListsWhatTheQuantizerGives) {
  for (const std::string& text : small_formats()) {
    const Format format = format_called(text);
    SCOPED_TRACE(to_string(format));
    const FormatGrid grid = format_grid(format);
    // Compares only the differences, because the lists are long.
    std::vector<float> truth = reached(format);
    if (grid.passes_tiny)
      std::erase_if(truth, [](float value) { return value != 0 && std::fabs(value) <= 1e-8f; });
    std::vector<float> missing, invented;
    std::ranges::set_difference(truth, grid.values, std::back_inserter(missing));
    std::ranges::set_difference(grid.values, truth, std::back_inserter(invented));
    EXPECT_EQ(missing, std::vector<float>{});
    EXPECT_EQ(invented, std::vector<float>{});
    EXPECT_EQ(grid.lowest, grid.values.front());
    EXPECT_EQ(grid.highest, grid.values.back());
    EXPECT_GE(grid.average_bits, 1);
    for (const float value : grid.unwritten)
      EXPECT_FALSE(std::ranges::binary_search(grid.values, value)) << value;
  }
}

// 0.3 = 1.2 · 2^-2. The nearest multiple of an eighth is 1.25. The exponent field is -2 + 7.
TEST(QuantizedNumber, OfAMinifloatIsTheOneByHand) {
  const QuantizedNumber number = spelled("minifloat_ieee(width=8,exponent_width=4)", 0.3f);
  EXPECT_EQ(number.value, 0.3f);
  EXPECT_EQ(number.quantized, 0.3125f);
  EXPECT_EQ(number.code, "0 0101 010");
  EXPECT_EQ(number.shared, "");
  EXPECT_EQ(number.parts,
            (std::vector<std::string>{"sign 0", "exponent 0101 = 5 - 7", "fraction 010"}));
  EXPECT_EQ(spelled("minifloat_ieee(width=8,exponent_width=4)", -0.3f).code, "1 0101 010");
}

// 0.3 is 4.8 sixteenths.
TEST(QuantizedNumber, OfAnIntegerIsTwosComplement) {
  EXPECT_EQ(spelled("integer(width=8,frac=4)", 0.3f).code, "00000101");
  const QuantizedNumber number = spelled("integer(width=8,frac=4)", -0.3f);
  EXPECT_EQ(number.code, "11111011");
  EXPECT_EQ(number.quantized, -0.3125f);
  EXPECT_EQ(number.parts, std::vector<std::string>{"integer 11111011"});
}

// The block's exponent is -2, stored as 125; 0.3 · 2^2 · 64 = 76.8.
TEST(QuantizedNumber, OfABlockFormatHasASharedCode) {
  const QuantizedNumber number = spelled("mxint(bits=8)", 0.3f);
  EXPECT_EQ(number.quantized, 77 / 256.0f);
  EXPECT_EQ(number.code, "01001101");
  EXPECT_EQ(number.shared, "01111101");
}

TEST(QuantizedNumbers, GivenTogetherShareOneScale) {
  const QuantizedNumbers scaled = quantized_together("int(bits=4)", {0.3f, 1.7f});
  EXPECT_EQ(scaled.sharing, "together, as one tensor of 2");
  ASSERT_EQ(scaled.state.size(), 1u);
  EXPECT_EQ(scaled.state[0].first, "scale");
  EXPECT_FLOAT_EQ(scaled.state[0].second[0], 1.7f / 7);
  EXPECT_FLOAT_EQ(scaled.numbers[0].quantized, 1.7f / 7);  // 0.3 is 1.24 steps
  EXPECT_FLOAT_EQ(scaled.numbers[1].quantized, 1.7f);

  // The exponent of 1.7 is 0. The nearest multiple of 1/64 to 0.3 is 19/64.
  const QuantizedNumbers block = quantized_together("mxint(bits=8,block=32)", {0.3f, 1.7f});
  EXPECT_EQ(block.sharing, "together, as one block of 2");
  EXPECT_EQ(block.numbers[0].quantized, 19 / 64.0f);
  EXPECT_EQ(block.numbers[0].shared, "01111111");
  EXPECT_EQ(quantized_together("mxint(block=1000000)", {1, 2}).sharing,
            "together, as one block of 2");
}

TEST(QuantizedNumbers, OfSeveralBlocksHaveTheCodesOfTheirOwn) {
  const QuantizedNumbers blocks = quantized_together("mxint(bits=8,block=2)", {1, 2, 4, 8, 16});
  EXPECT_EQ(blocks.sharing, "together, in 3 blocks");
  const char* expected[] = {"10000000", "10000000", "10000010", "10000010", "10000011"};
  for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(blocks.numbers[i].shared, expected[i]) << i;
  // A tensor has two shared codes: its scale and its zero point.
  const QuantizedNumbers affine =
      quantized_together("int(bits=8,range=affine,scale=dynamic)", {1, 2});
  EXPECT_EQ(affine.numbers[1].shared.size(), 32u + 1 + 32);
  EXPECT_EQ(affine.numbers[0].shared, affine.numbers[1].shared);
}

TEST(QuantizedNumbers, ShareNothingWhereTheFormatSharesNothing) {
  EXPECT_EQ(quantized_together("integer(width=8,frac=4)", {0.3f, 100}).sharing,
            "independently of each other");
  EXPECT_EQ(quantized_together("bf16", {0.3f}).sharing, "independently of each other");
  EXPECT_EQ(quantized_together("mxint", {0.3f}).sharing, "as a block of one");
}

TEST(QuantizedNumbers, AreFilledUpWithZerosWhereAFormatTakesWholeBlocksOnly) {
  const QuantizedNumbers block = quantized_together("mxint(block=16,mode=mase)", {0.3f, 0.9f});
  EXPECT_EQ(block.sharing, "together, as one block of 2");
  ASSERT_EQ(block.numbers.size(), 2u);
  EXPECT_EQ(block.numbers[1].quantized, 115 / 128.0f);
}

TEST(QuantizedNumber, OfInfinityIsItsCodeWhereThereIsOne) {
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(spelled("fp16", infinity).code, "0 11111 0000000000");
  EXPECT_EQ(spelled("integer(width=4,frac=0)", -infinity).quantized, -8);
}

TEST(QuantizedNumber, RefusesNumbersWithoutCode) {
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
