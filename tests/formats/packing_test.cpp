#include "hone/formats/packing.h"

#include <gtest/gtest.h>

#include <bit>

#include "hone/base/random.h"
#include "hone/formats/calibrate.h"
#include "tests/formats/formats_testing.h"
#include "tests/support/expect.h"

namespace hone {
namespace {

using testing::format_of;

// Returns every format with its defaults, with each named value, with few bits, and with blocks that do not divide
// rows.
std::vector<Format> packable_variants() {
  std::vector<Format> made;
  for (const auto& [name, def] : testing::formats()) {
    std::vector<std::string> texts = {name};
    for (const FormatParameterDef& parameter : def.parameters) {
      for (const std::string_view word : parameter.words)
        texts.push_back(fmt::format("{}({}={})", name, parameter.name, word));
      if (parameter.name == "bits" || parameter.name == "width")
        for (int bits = 2; bits <= 17; ++bits)
          texts.push_back(fmt::format("{}({}={})", name, parameter.name, bits));
      if (parameter.name == "axis") texts.push_back(fmt::format("{}(axis=0)", name));
      if (parameter.name == "rows") texts.push_back(fmt::format("{}(rows=2)", name));
      if (parameter.name == "block") texts.push_back(fmt::format("{}(block=20)", name));
      if (parameter.name == "group")
        for (const char* more : {"4", "2,range=affine", "8,range=affine"})
          texts.push_back(fmt::format("{}(group=20,bits={})", name, more));
    }
    for (const std::string& text : texts) {
      try {
        made.push_back(parse_format(text, testing::formats()));
      } catch (const UserError&) {
        // This value requires another parameter.
      }
    }
  }
  return made;
}

std::vector<float> drawn(std::int64_t count) {
  RandomSequence random(3, 1);
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& value : values) value = static_cast<float>(random.normal());
  return values;
}

void expect_same_bits(const std::vector<float>& y, const std::vector<float>& expected,
                      const std::string& what) {
  for (std::size_t i = 0; i < y.size(); ++i)
    ASSERT_EQ(std::bit_cast<std::uint32_t>(y[i]), std::bit_cast<std::uint32_t>(expected[i]))
        << what << ", element " << i << ": " << y[i] << " for " << expected[i];
}

TEST(Packing, KeepsTheBitsOfEveryFormatThatHasAPackedForm) {
  ThreadPool pool(3);
  int packed_count = 0, by_units = 0, by_rows = 0;
  for (const Format& format : packable_variants()) {
    for (const Sizes& sizes : {Sizes{33, 96}, Sizes{96}, Sizes{3, 2, 32}}) {
      for (const Arrangement arrangement : kArrangements) {
        const std::vector<float> x = drawn(element_count(sizes));
        const std::vector<Tensor> state = calibrate_tensor(format, sizes, x);
        const CodeLayout codes = format.def->layout(format, sizes);
        EXPECT_EQ(packing_objection(format, sizes).empty(), codes.element_bits <= 16);
        if (codes.element_bits > 16) continue;
        const std::string what = fmt::format("{} of ({}) in {}", to_string(format),
                                             fmt::join(sizes, ","), to_string(arrangement));
        const PackedLayout layout = packed_layout(format, sizes, arrangement);
        const QuantizerInput input{format, sizes, x, state};
        const PackedCodes packed = pack(input, layout, pool);
        EXPECT_EQ(packed.codes.count(), layout.code_bytes) << what;
        EXPECT_EQ(packed.shared.count(), layout.shared_bytes) << what;
        std::vector<float> y(x.size()), expected(x.size());
        unpack({format, sizes, {}, state}, layout, packed, pool, y);
        format.def->decode({format, sizes, {}, state}, format.def->encode(input), expected);
        expect_same_bits(y, expected, what);
        check_codes({format, sizes, {}, state}, layout, packed, pool);
        ++packed_count;
        const std::optional<CodeUnits> units = units_of({format, sizes, {}, state});
        by_units += units ? 1 : 0;
        if (sizes.size() != 2 || !has_rows(format, sizes)) continue;
        const QuantizerInput unread{format, sizes, {}, state};
        const PackedRows rows{unread, layout, units ? &*units : nullptr,
                              packed.codes.data<std::uint8_t>(),
                              packed.shared.data<std::uint8_t>()};
        std::vector<float> last(expected.end() - sizes[1], expected.end()), row(last.size());
        rows.read(pool, 32, 1, row.data());
        expect_same_bits(row, last, what + ", the last row");
        by_rows += units ? 0 : 1;
        if (arrangement == Arrangement::panels) continue;
        std::vector<std::uint16_t> row_codes(row.size());
        std::ranges::fill(row, 0);
        rows.gather(32, row_codes, row.data());
        expect_same_bits(row, last, what + ", the last row gathered");
      }
    }
  }
  EXPECT_GT(packed_count, 500);
  EXPECT_GT(by_units, 300) << "formats that fast kernels read";
  EXPECT_GT(by_rows, 30) << "formats that decode rows themselves";
}

// 768 x 768 in MXINT8 with blocks of 32: 8 bits per element, one byte per block, and no padding.
TEST(Packing, TakesTheBytesThatTheFormatSays) {
  const PackedLayout eight =
      packed_layout(format_of("mxint(bits=8)"), {768, 768}, Arrangement::panels);
  EXPECT_EQ(eight.code_bytes, 768 * 768);
  EXPECT_EQ(eight.shared_bytes, 768 * 768 / 32);
  EXPECT_EQ(eight.bytes(), eight.bytes_without_padding());
  const PackedLayout four =
      packed_layout(format_of("mxint(bits=4)"), {2, 768}, Arrangement::panels);
  EXPECT_EQ(four.code_bytes, 32 * 768 / 2) << "rows are padded to a panel";
  EXPECT_EQ(four.shared_bytes, 32 * 24);
  EXPECT_EQ(four.bytes_without_padding(), 2 * 768 / 2 + 2 * 24);
  const PackedLayout half = packed_layout(format_of("bf16"), {768, 768}, Arrangement::panels);
  EXPECT_EQ(half.code_bytes, 768 * 768 * 2);
  EXPECT_EQ(half.shared_bytes, 0);
  const PackedLayout twelve =
      packed_layout(format_of("int(bits=12)"), {768, 768}, Arrangement::panels);
  EXPECT_EQ(twelve.code_bytes, 768 * 768 * 12 / 8);
  const PackedLayout table =
      packed_layout(format_of("int(bits=8,per=row)"), {30522, 128}, Arrangement::rows);
  EXPECT_EQ(table.code_bytes, 30522 * 128);
  EXPECT_EQ(table.shared_bytes, 0) << "the scales are states of the format";
}

TEST(Packing, RefusesFormatsOfLargeCodes) {
  expect_user_error("its codes have 17 bits, and packing supports up to 16", [] {
    packed_layout(format_of("minifloat_ieee(width=17,exponent_width=5)"), {4, 4},
                  Arrangement::rows);
  });
  expect_user_error("unknown arrangement 'tiles' of packed codes; expected panels or rows",
                    [] { parse_arrangement("tiles"); });
}

TEST(Packing, FindsCodesThatStandForNoNumber) {
  ThreadPool pool(1);
  const auto check = [&](const Format& format, const Sizes& sizes, auto&& damage) {
    const std::vector<float> x = drawn(element_count(sizes));
    const std::vector<Tensor> state = calibrate_tensor(format, sizes, x);
    const PackedLayout layout = packed_layout(format, sizes, Arrangement::panels);
    PackedCodes packed = pack({format, sizes, x, state}, layout, pool);
    damage(packed);
    check_codes({format, sizes, {}, state}, layout, packed, pool);
  };
  expect_user_error(
      "row 5, block 1: the scale is nan; the file is damaged, or was packed from "
      "weights that are not numbers",
      [&] {
        check(format_of("mxint(bits=8)"), {40, 64},
              [](PackedCodes& packed) { packed.shared.data<std::uint8_t>()[32 + 5] = 255; });
      });
  expect_user_error(
      "nan; the file is damaged, or was packed from weights that are not numbers", [&] {
        check(format_of("int(bits=4,per=row,mode=mase)"), {4, 32}, [](PackedCodes& packed) {
          std::fill_n(packed.shared.data<std::uint8_t>() + 12, 4, std::uint8_t{255});
        });
      });
  expect_user_error(
      "row 33, block 1: the scale is inf; the file is damaged, or was packed from "
      "weights that are not numbers",
      [&] {
        check(format_of("int(bits=4,group=32)"), {40, 64}, [](PackedCodes& packed) {
          // The second bytes of the second block in the second panel.
          packed.shared.data<std::uint8_t>()[32 * 2 * 2 + 32 * 2 + 32 + 1] = 0x7c;
          packed.shared.data<std::uint8_t>()[32 * 2 * 2 + 32 * 2 + 1] = 0;
        });
      });
  expect_user_error(
      "row 0, block 1: int(bits=4,group=16,range=affine,scale=dynamic) has no shared "
      "code 2115584; the file is damaged",
      [&] {
        check(format_of("int(bits=4,group=16,asymmetric=true)"), {4, 32}, [](PackedCodes& packed) {
          std::uint8_t* const at = packed.shared.data<std::uint8_t>() + 32 * 3;
          at[0] = 0, at[32] = 0x48, at[64] = 0x20;
        });
      });
  // With the scale 2^127 the code -128 exceeds fp32.
  expect_user_error("row 0, column 1: the value is -inf; the file is damaged", [&] {
    check(format_of("mxint(bits=8)"), {1, 32}, [](PackedCodes& packed) {
      packed.codes.data<std::uint8_t>()[1] = 0;
      packed.shared.data<std::uint8_t>()[0] = 254;
    });
  });
  expect_user_error("row 33, column 2: the value is inf; the file is damaged", [&] {
    check(format_of("bf16"), {40, 3}, [](PackedCodes& packed) {
      // Pair 1 of row 1 in the second panel of 2 pairs.
      std::uint8_t* const at = packed.codes.data<std::uint8_t>() + (2 + 1) * 128 + 4;
      at[0] = 0x80, at[1] = 0x7f;
    });
  });
  expect_user_error("row 0, column 2: the value is -nan; the file is damaged", [&] {
    check(format_of("fp16"), {4, 40}, [](PackedCodes& packed) {
      std::fill_n(packed.codes.data<std::uint8_t>() + 128, 2, std::uint8_t{255});
    });
  });
  expect_user_error("row 1, column 0: the value is nan; the file is damaged", [&] {
    check(format_of("int(bits=4,per=row,range=affine,scale=dynamic)"), {2, 32},
          [](PackedCodes& packed) {
            std::fill_n(packed.shared.data<std::uint8_t>() + 12, 4, std::uint8_t{255});
          });
  });
  // A shared code uses 6 bits of a byte.
  expect_user_error(
      "row 2, block 1: block_fp(width=6,exponent_width=6,exponent_bias=31,block=8,rows=1,axis=-1) "
      "has no shared code 90; the file is damaged",
      [&] {
        check(format_of("block_fp(width=6,exponent_width=6,block=8)"), {4, 16},
              [](PackedCodes& packed) { packed.shared.data<std::uint8_t>()[32 + 2] = 90; });
      });
  // Columns 0 to 3 of 16 neighbouring rows are in bits 0 and 1 of 64 bytes. 0 is -2 in offset binary.
  expect_user_error(
      "row 2, column 1: ternary has no value for the code 2; the file is "
      "damaged",
      [&] {
        check(format_of("ternary"), {4, 32},
              [](PackedCodes& packed) { packed.codes.data<std::uint8_t>()[4 * 2 + 1] &= 0xfc; });
      });
}

}  // namespace
}  // namespace hone
