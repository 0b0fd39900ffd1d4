#include "hone/formats/mxfp.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/formats/block_testing.h"
#include "tests/formats/formats_testing.h"
#include "tests/support/expect.h"
#include "tests/support/test_data.h"

namespace hone::testing {
namespace {

const std::vector<std::string> kElements = {"e4m3", "e5m2", "e3m2", "e2m3", "e2m1"};

std::vector<std::string> formats_under_test() {
  std::vector<std::string> texts;
  for (const std::string& element : kElements) {
    texts.push_back(fmt::format("mxfp(element={},block=32)", element));
    texts.push_back(fmt::format("mxfp(element={},block=16,scale=ceil)", element));
  }
  texts.push_back("mxfp(element=e2m1,block=8)");
  texts.push_back("mxfp(element=e4m3,block=5)");
  return texts;
}

std::string mxfp_text_of(const Json& parameters) {
  return fmt::format(
      "mxfp(element=e{}m{},block={},mode={})", parameters["element_exp_bits"].get<int>(),
      parameters["element_frac_bits"].get<int>(), parameters["block_size"].get<int>(),
      parameters.contains("scale") ? "fixed" : "mase");
}

Json ocp_vectors() { return read_json(test_data() / "vectors" / "mxint8.json"); }

TEST(Mxfp, GivesTheValuesOfTheVectors) {
  EXPECT_GE(check_vectors("mxfp", "fixed", mxfp_text_of), 5 * 40);
  EXPECT_GE(check_vectors("mxfp", "mase", mxfp_text_of), 5 * 48);
}

TEST(Mxfp, GivesValuesAndCodesOfTheOcpVectors) {
  int compared = 0;
  const Json vectors = ocp_vectors();
  for (const auto& [name, rows] : vectors["ocp_fp_quant_floor_rne_sat"].items()) {
    for (const Json& row : rows) {
      const Format format = format_of(
          fmt::format("mxfp(element={},block={})", name.substr(2), row["block"].get<int>()));
      const auto x = floats_of_bits(row["input_fp32"].get<std::vector<std::string>>());
      const auto expected = floats_of_bits(row["dequant_fp32"].get<std::vector<std::string>>());
      const std::vector<float> y = fast(to_string(format), x);
      const Codes codes =
          format.def->encode({format, {static_cast<std::int64_t>(x.size())}, x, {}});
      EXPECT_EQ(codes.shared, row["scale"].get<std::vector<std::uint32_t>>()) << row["name"];
      EXPECT_EQ(codes.elements, row["codes"].get<std::vector<std::uint32_t>>()) << row["name"];
      for (std::size_t i = 0; i < x.size(); ++i, ++compared)
        EXPECT_TRUE(same(y[i], expected[i])) << name << " " << row["name"] << " " << i;
    }
  }
  EXPECT_EQ(compared, 2096);
}

TEST(Mxfp, DecodesTheCodesOfEveryElement) {
  const Json tables = ocp_vectors()["element_tables_fp32"];
  for (const std::string& element : kElements) {
    const auto expected = floats_of_bits(tables[element].get<std::vector<std::string>>());
    const auto count = static_cast<std::int64_t>(expected.size());
    const Format format = format_of(fmt::format("mxfp(element={},block={})", element, count));
    Codes codes{{}, {127}};
    for (std::uint32_t code = 0; code < expected.size(); ++code) codes.elements.push_back(code);
    std::vector<float> y(expected.size());
    format.def->decode({format, {count}, {}, {}}, codes, y);
    for (std::size_t i = 0; i < y.size(); ++i)
      EXPECT_TRUE(same(y[i], expected[i])) << element << " " << i;
  }
}

TEST(Mxfp, HasTheSameBitsFastAndSlow) {
  for (const std::string& format : formats_under_test())
    check_fast_in_blocks(format, static_cast<int>(format_of(format)["block"]));
}

TEST(Mxfp, BlocksLieAlongAnyAxis) { check_axis("mxfp(element=e4m3,block=8)"); }

TEST(Mxfp, IsIdempotentAndOdd) {
  for (const std::string& format : formats_under_test()) {
    check_idempotent(format, values_in_runs(2001, 16, 30), {29, 69});
    check_odd(format, values_in_runs(2001, 16, 30), {29, 69});
  }
}

TEST(Mxfp, PacksItsCodes) {
  for (const std::string& format : formats_under_test())
    check_packs(format, any_values_in_runs(1001, 7), {13, 77});
  for (const std::string& element : kElements)
    check_packs(fmt::format("mxfp(element={},block=16,mode=mase)", element),
                any_values_in_runs(1024, 7), {16, 64});
}

// A step is 2^-3 of the value's power of two. For subnormals it is 2^-9 of the scale.
TEST(Mxfp, IsWithinHalfAStepWhereNothingSaturates) {
  const std::vector<float> x = values_in_runs(3200, 32, 20);
  const std::vector<float> y = fast("mxfp(element=e4m3,block=32)", x);
  int compared = 0;
  for (std::size_t first = 0; first < x.size(); first += 32) {
    float largest = 0;
    for (std::size_t i = first; i < first + 32; ++i) largest = std::max(largest, std::fabs(x[i]));
    if (largest == 0) continue;
    const int scale = std::ilogb(largest) - 8;
    for (std::size_t i = first; i < first + 32; ++i) {
      if (x[i] == 0 || std::ldexp(std::fabs(x[i]), -scale) > 448) continue;
      const float step = std::ldexp(1.0f, std::max(std::ilogb(x[i]) - 3, scale - 9));
      EXPECT_LE(std::fabs(y[i] - x[i]), step / 2) << x[i];
      ++compared;
    }
  }
  EXPECT_GE(compared, 2000);
}

TEST(Mxfp, SaturatesWithScaleFloorOnly) {
  EXPECT_EQ(by_reference("mxfp(element=e2m1,block=2)", {7.9f, 0.5f}), (std::vector<float>{6, 0.5}));
  EXPECT_EQ(by_reference("mxfp(element=e2m1,block=2,scale=ceil)", {7.9f, 0.5f}),
            (std::vector<float>{8, 0}));
  EXPECT_EQ(by_reference("mxfp(element=e2m1,block=2,scale=ceil)", {6.0f, 0.5f}),
            (std::vector<float>{6, 0.5}));
}

// 1.0625 is a tie between 1 and 1.125. The low bits that would break the tie are cut off first.
TEST(Mxfp, InMaseModeDropsLowBitsBeforeItRounds) {
  const std::vector<float> x = {1.0625f + 0x1p-20f, 1, 1.0625f + 0x1p-15f, 1};
  EXPECT_EQ(by_reference("mxfp(block=2,mode=mase)", x), (std::vector<float>{1, 1, 1.125f, 1}));
  EXPECT_EQ(by_reference("mxfp(block=2)", x), (std::vector<float>{1.125f, 1, 1.125f, 1}));
}

TEST(Mxfp, MakesABlockWithSomethingElseThanNumbersNan) {
  for (const float special : {NAN, INFINITY, -INFINITY}) {
    const std::vector<float> y = fast("mxfp(element=e5m2,block=2)", {special, 1, 1, 0.5f});
    EXPECT_TRUE(std::isnan(y[0]) && std::isnan(y[1]));
    EXPECT_EQ(y[2], 1);
    EXPECT_EQ(y[3], 0.5f);
  }
}

TEST(Mxfp, TakesBitsAndAByteForEveryBlock) {
  EXPECT_EQ(average_bits(format_of("mxfp(element=e2m1,block=32)"), {10, 64}), 4.25);
  EXPECT_EQ(average_bits(format_of("mxfp(element=e3m2,block=16)"), {10, 64}), 6.5);
  EXPECT_EQ(average_bits(format_of("mxfp(element=e4m3,block=32)"), {10, 64}), 8.25);
}

TEST(Mxfp, RefusesWhatItCannotDo) {
  expect_user_error("mode=mase computes its own scale",
                    [] { format_of("mxfp(scale=ceil,mode=mase)"); });
  expect_user_error("'e4m4' is not one of e4m3", [] { format_of("mxfp(element=e4m4)"); });
  expect_user_error("not a multiple of the block size", [] {
    by_reference("mxfp(block=2,mode=mase)", {1, 2, 3});
  });
}

TEST(Mxfp, SpellsOutItsParameters) {
  EXPECT_EQ(to_string(format_of("mxfp(element=e2m1)")), "mxfp(element=e2m1,block=32,axis=-1)");
}

}  // namespace
}  // namespace hone::testing
