#include "hone/kernels/quantize.h"

#include <bit>

#include "hone/base/json.h"
#include "tests/kernels/kernel_testing.h"
#include "tests/support/test_data.h"

namespace hone::kernels {
namespace {

// Codes followed by scales.
using Coded = std::vector<std::uint8_t>;

Coded quantized(const std::vector<float>& x, std::int64_t group, MxintDialect dialect) {
  const auto count = static_cast<std::int64_t>(x.size());
  return same_for_any_target([&](ThreadPool& pool) {
    Coded coded(x.size() + (x.size() + group - 1) / group);
    quantize_mxint8(pool, count, group, dialect, x.data(), coded.data(), coded.data() + count);
    return coded;
  });
}

Coded by_reference(const std::vector<float>& x, std::int64_t group, MxintDialect dialect) {
  const auto count = static_cast<std::int64_t>(x.size());
  Coded coded(x.size() + (x.size() + group - 1) / group);
  quantize_mxint8_reference(count, group, dialect, x.data(), coded.data(), coded.data() + count);
  return coded;
}

void check(const std::vector<float>& x, std::int64_t group) {
  for (const MxintDialect dialect : {MxintDialect::ocp, MxintDialect::mase})
    EXPECT_TRUE(same_bits(quantized(x, group, dialect), by_reference(x, group, dialect)))
        << x.size() << " in groups of " << group;
}

TEST(QuantizeMxint8, GivesTheCodesOfTheVectors) {
  const Json all = read_json(test_data() / "vectors" / "mxint8.json");
  int compared = 0;
  for (const auto& [key, dialect] :
       {std::pair{"mase_mxint8_quant", MxintDialect::mase},
        std::pair{"ocp_mxint8_quant_rne_symmetric", MxintDialect::ocp}}) {
    for (const Json& row : all[key]) {
      const std::string name = row["name"];
      std::vector<float> x;
      for (const std::string bits : row["input_fp32"])
        x.push_back(
            std::bit_cast<float>(static_cast<std::uint32_t>(std::stoul(bits, nullptr, 16))));
      Coded expected;
      for (const int mantissa : row["mantissa"])
        expected.push_back(static_cast<std::uint8_t>(mantissa));
      for (const int scale : row["scale"]) expected.push_back(static_cast<std::uint8_t>(scale));
      const std::int64_t group = row["group"];
      EXPECT_EQ(quantized(x, group, dialect), expected) << key << " " << name;
      EXPECT_EQ(by_reference(x, group, dialect), expected) << key << " " << name;
      ++compared;
    }
  }
  EXPECT_EQ(compared, 2 * 28);
}

TEST(QuantizeMxint8, AnyCountAndGroupGoes) {
  for (const std::int64_t count : kOddSizes)
    for (const std::int64_t group : {1, 2, 3, 4, 8, 15, 16, 17, 32, 100, 999, 5000})
      check(random_floats(count, 5, -3, 3), group);
  check(random_floats(100'000, 6, -3, 3), 7);
  check(random_floats(100'000, 6, -3, 3), 64);
}

// Any bit patterns, in runs with similar exponents; includes subnormal values, infinities and NaN.
TEST(QuantizeMxint8, AnyNumberGoes) {
  RandomSequence random(8, 8);
  std::vector<float> x;
  for (int run = 0; run < 4096; ++run) {
    const auto exponent = static_cast<std::uint32_t>(run % 256);
    for (int i = 0; i < 8; ++i) {
      const std::uint32_t lower =
          exponent - static_cast<std::uint32_t>(random.below(std::min(exponent, 8u) + 1));
      x.push_back(std::bit_cast<float>((random.next_word() & 0x807fffff) | lower << 23));
    }
  }
  for (const std::int64_t group : {1, 2, 4, 8}) check(x, group);
  check(x, 16);
}

TEST(QuantizeMxint8, WhatWasDecodedIsCodedAgain) {
  const std::vector<float> x = random_floats(4096, 9, -50, 50);
  for (const MxintDialect dialect : {MxintDialect::ocp, MxintDialect::mase}) {
    const Coded coded = quantized(x, 32, dialect);
    std::vector<std::uint16_t> halves(x.size());
    dequantize_reference(
        {.count = 4096, .group = 32, .codes = coded.data(), .scales = coded.data() + 4096}, dialect,
        halves.data());
    std::vector<float> y;
    for (const std::uint16_t half : halves)
      y.push_back(std::bit_cast<float>(std::uint32_t{half} << 16));
    EXPECT_EQ(quantized(y, 32, dialect), coded);
  }
}

}  // namespace
}  // namespace hone::kernels
