#include "hone/formats/mxint.h"

#include <gtest/gtest.h>

#include <cmath>

#include "hone/formats/codes.h"
#include "tests/formats/block_testing.h"
#include "tests/formats/formats_testing.h"
#include "tests/support/expect.h"
#include "tests/support/test_data.h"

namespace hone::testing {
namespace {

const std::vector<std::string> kMxintFormats = {
    "mxint(bits=8,block=32)", "mxint(bits=8,block=32,scale=ceil)", "mxint(bits=4,block=16)",
    "mxint(bits=2,block=8)",  "mxint(bits=2,block=16,scale=ceil)", "mxint(bits=24,block=64)",
    "mxint(bits=6,block=5)",  "mxint(bits=24,block=4,scale=ceil)", "mxint(bits=8,block=1)",
    "mxint(bits=8,block=999)"};

std::string mxint_text_of(const Json& parameters) {
  const bool fixed = parameters.contains("scale");
  return fmt::format("mxint(bits={},block={},axis={},mode={})",
                     parameters["element_bits"].get<int>(), parameters["block_size"].get<int>(),
                     fixed ? -1 : parameters["block_dim"].get<int>(), fixed ? "fixed" : "mase");
}

TEST(Mxint, GivesTheValuesOfTheVectors) {
  EXPECT_GE(check_vectors("mxint", "fixed", mxint_text_of), 40);
  EXPECT_GE(check_vectors("mxint", "mase", mxint_text_of), 40 + 40 + 32 + 18);
}

TEST(Mxint, GivesValuesAndCodesOfTheOcpVectors) {
  const Json vectors = read_json(test_data() / "vectors" / "mxint8.json");
  int compared = 0;
  for (const Json& row : vectors["ocp_mxint8_quant_rne_symmetric"]) {
    const std::string name = row["name"].get<std::string>();
    const Format format = format_of(fmt::format("mxint(bits=8,block={})", row["group"].get<int>()));
    const auto x = floats_of_bits(row["input_fp32"].get<std::vector<std::string>>());
    const auto expected = floats_of_bits(row["dequant_fp32"].get<std::vector<std::string>>());
    const Sizes sizes = {static_cast<std::int64_t>(x.size())};
    const std::vector<float> y = fast(to_string(format), x);
    const Codes codes = format.def->encode({format, sizes, x, {}});
    EXPECT_EQ(codes.shared, row["scale"].get<std::vector<std::uint32_t>>()) << name;
    for (std::size_t i = 0; i < x.size(); ++i, ++compared) {
      EXPECT_TRUE(same(y[i], expected[i])) << name << " " << i;
      EXPECT_EQ(codes.elements[i], row["mantissa"][i].get<std::uint32_t>() & 255) << name;
    }
  }
  EXPECT_EQ(compared, 756);
}

// The packer of MASE's CUDA extension works on bfloat16. For inputs rounded to bfloat16 its groups equal ours.
TEST(Mxint, PacksWhatTheCudaExtensionPacks) {
  const Format format = format_of("mxint(bits=8,block=8)");
  int packed = 0, decoded = 0;
  for (const Json& entry : read_json(test_data() / "vectors" / "formats.json")) {
    if (entry["format"] != "mxint8_cuda") continue;
    for (const Json& row : entry["cases"]) {
      if (!row.contains(
              "mantissa_int8")) {  // only a code, at scale 1; -128 means 0 there and -2 here
        const auto mantissa = row["in"].get<std::int64_t>();
        if (mantissa == -128) continue;
        std::vector<float> y(1);
        format.def->decode({format, {1}, {}, {}}, {{signed_code(mantissa, 8)}, {127}}, y);
        EXPECT_EQ(y[0], row["out"].get<float>()) << mantissa;
        ++decoded;
        continue;
      }
      const auto x = row["in"].get<std::vector<float>>();
      const std::vector<float> rounded = by_reference("bf16", x);
      const Codes codes = format.def->encode({format, {8}, rounded, {}});
      EXPECT_EQ(codes.shared[0], row["scale_uint8"][0].get<std::uint32_t>());
      for (std::size_t i = 0; i < x.size(); ++i)
        EXPECT_EQ(signed_value(codes.elements[i], 8), row["mantissa_int8"][i].get<std::int64_t>())
            << x[i];
      EXPECT_EQ(by_reference("mxint(bits=8,block=8)", rounded),
                row["out"].get<std::vector<float>>());
      ++packed;
    }
  }
  EXPECT_EQ(packed, 5);
  EXPECT_GE(decoded, 15);
}

TEST(Mxint, DecodesAllCodesAndScales) {
  const Json vectors = read_json(test_data() / "vectors" / "mxint8.json");
  const Format format = format_of("mxint(bits=8,block=256)");
  Codes codes;
  for (std::uint32_t code = 0; code < 256; ++code) codes.elements.push_back(code);
  std::vector<float> y(256);
  for (const auto& [scale, bits] : vectors["ocp_mxint8_dequant_fp32"].items()) {
    codes.shared = {static_cast<std::uint32_t>(std::stoul(scale))};
    format.def->decode({format, {256}, {}, {}}, codes, y);
    const auto expected = floats_of_bits(bits.get<std::vector<std::string>>());
    for (std::size_t i = 0; i < 256; ++i) EXPECT_TRUE(same(y[i], expected[i])) << scale << " " << i;
  }
  const auto powers = floats_of_bits(vectors["e8m0_fp32"].get<std::vector<std::string>>());
  for (std::uint32_t scale = 0; scale < 256; ++scale) {
    codes.shared = {scale};
    format.def->decode({format, {256}, {}, {}}, codes, y);
    EXPECT_TRUE(same(y[64], powers[scale])) << scale;
  }
}

TEST(Mxint, HasTheSameBitsFastAndSlow) {
  for (const std::string& format : kMxintFormats)
    check_fast_in_blocks(format, static_cast<int>(format_of(format)["block"]));
}

TEST(Mxint, BlocksLieAlongAnyAxis) {
  check_axis("mxint(bits=8,block=8)");
  check_axis("mxint(bits=4,block=32)");
}

TEST(Mxint, IsIdempotentAndOdd) {
  for (const std::string& format : kMxintFormats) {
    check_idempotent(format, values_in_runs(2001, 16, 30), {29, 69});
    check_odd(format, values_in_runs(2001, 16, 30), {29, 69});
  }
}

TEST(Mxint, PacksItsCodes) {
  for (const std::string& format : kMxintFormats)
    check_packs(format, any_values_in_runs(1001, 7), {13, 77});
  check_packs("mxint(bits=8,block=16,mode=mase)", any_values_in_runs(1024, 7), {16, 64});
  check_packs("mxint(bits=4,block=6,axis=0,mode=mase)", values_in_runs(90, 3, 9), {9, 10});
}

// A step is 2^-6 of the power of two below the largest magnitude.
TEST(Mxint, IsWithinHalfAStepWhereNothingSaturates) {
  const std::vector<float> x = values_in_runs(3200, 32, 20);
  for (const std::string scale : {"floor", "ceil"}) {
    const std::vector<float> y = fast(fmt::format("mxint(bits=8,block=32,scale={})", scale), x);
    for (std::size_t first = 0; first < x.size(); first += 32) {
      float largest = 0;
      for (std::size_t i = first; i < first + 32; ++i) largest = std::max(largest, std::fabs(x[i]));
      if (largest == 0) continue;
      const float step = std::ldexp(1.0f, std::ilogb(largest) - 6);
      const bool above = largest > 127 * step;
      const float bound = !above ? step / 2 : step;  // a doubled scale, or saturation
      for (std::size_t i = first; i < first + 32; ++i) EXPECT_LE(std::fabs(y[i] - x[i]), bound);
    }
  }
}

TEST(Mxint, CeilScaleNeverSaturates) {
  EXPECT_EQ(by_reference("mxint(bits=4,block=2)", {1.9f, 0.3f}), (std::vector<float>{1.75, 0.25}));
  EXPECT_EQ(by_reference("mxint(bits=4,block=2,scale=ceil)", {1.9f, 0.3f}),
            (std::vector<float>{2, 0.5}));
  EXPECT_EQ(by_reference("mxint(bits=4,block=2,scale=ceil)", {1.75f, 0.3f}),
            (std::vector<float>{1.75, 0.25}));
}

TEST(Mxint, MakesABlockWithSomethingElseThanNumbersNan) {
  for (const float special : {NAN, INFINITY, -INFINITY}) {
    const std::vector<float> y = fast("mxint(bits=8,block=2)", {special, 1, 1, 0.5f});
    EXPECT_TRUE(std::isnan(y[0]) && std::isnan(y[1]));
    EXPECT_EQ(y[2], 1);
    EXPECT_EQ(y[3], 0.5f);
  }
}

TEST(Mxint, StartsBlocksAfreshInEveryRow) {
  const std::vector<float> x = {1, 1, 100, 0.01f, 0.01f, 0.01f};
  EXPECT_EQ(by_reference("mxint(bits=8,block=2)", x, {2, 3}),
            (std::vector<float>{1, 1, 100, 0.010009765625f, 0.010009765625f, 0.010009765625f}));
}

TEST(Mxint, TakesBitsAndAByteForEveryBlock) {
  EXPECT_EQ(average_bits(format_of("mxint(bits=8,block=32)"), {10, 64}), 8.25);
  EXPECT_EQ(average_bits(format_of("mxint(bits=4,block=32)"), {4, 33}), 4 + 16.0 / 33);
}

TEST(Mxint, RefusesWhatItCannotDo) {
  expect_user_error("mode=mase computes its own scale",
                    [] { format_of("mxint(scale=ceil,mode=mase)"); });
  expect_user_error("has no axis 2; use one from -2 to 1", [] {
    by_reference("mxint(axis=2)", {1, 2}, {1, 2});
  });
  expect_user_error("3 elements of the tensor (3) are not a multiple of the block size", [] {
    by_reference("mxint(block=2,mode=mase)", {1, 2, 3});
  });
}

TEST(Mxint, SpellsOutItsParameters) {
  EXPECT_EQ(to_string(format_of("mxint")), "mxint(bits=8,block=32,axis=-1)");
}

}  // namespace
}  // namespace hone::testing
