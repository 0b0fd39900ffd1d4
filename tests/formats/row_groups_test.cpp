#include "hone/formats/row_groups.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "hone/base/file.h"
#include "hone/formats/packing.h"
#include "tests/formats/backward_testing.h"
#include "tests/formats/formats_testing.h"
#include "tests/support/expect.h"
#include "tests/support/test_data.h"

// `int` in groups and `nf4`, whose groups have float16 scales.
namespace hone::testing {
namespace {

const std::vector<std::string> kGroups = {
    "int(bits=4,group=32)",
    "int(bits=4,group=32,asymmetric=true)",
    "int(bits=2,group=16)",
    "int(bits=3,group=100,asymmetric=true)",
    "int(bits=8,group=64)",
    "int(bits=8,group=1,asymmetric=true)",
    "int(bits=5,group=65536)",
    "nf4",
    "nf4(block=1)",
    "nf4(block=16)",
    "nf4(block=100)",
};

std::vector<float> reference(std::string_view format, const std::vector<float>& x,
                             const Sizes& sizes) {
  return by_reference(format, x, sizes);
}

TEST(RowGroups, GiveTheValuesOfTorch) {
  const Json golden = read_json(test_data() / "formats/golden/groups.json");
  const auto x = golden["x"].get<std::vector<float>>();
  const Sizes sizes = golden["shape"].get<Sizes>();
  for (const Json& row : golden["cases"]) {
    const auto format = row["format"].get<std::string>();
    const std::vector<float> y = reference(format, x, sizes);
    const auto expected = row["y"].get<std::vector<float>>();
    ASSERT_EQ(y.size(), expected.size());
    for (std::size_t i = 0; i < y.size(); ++i)
      ASSERT_TRUE(same(y[i], expected[i]))
          << format << " at " << i << ": " << x[i] << " gave " << y[i] << ", not " << expected[i];
  }
  EXPECT_EQ(golden["cases"].size(), 14);
}

TEST(RowGroups, SpellOutTheirParameters) {
  EXPECT_EQ(to_string(format_of("int(bits=4,group=32)")), "int(bits=4,group=32,scale=dynamic)");
  EXPECT_EQ(to_string(format_of("int(bits=4,group=32,asymmetric=true)")),
            "int(bits=4,group=32,range=affine,scale=dynamic)");
  EXPECT_EQ(format_of("int(bits=4,asymmetric=true)"), format_of("int(bits=4,range=affine)"));
  EXPECT_EQ(format_of("int(bits=4,group=0)"), format_of("int(bits=4)"));
  EXPECT_EQ(to_string(format_of("nf4")), "nf4(block=64)");
  for (const std::string& format : kGroups)
    EXPECT_EQ(format_of(to_string(format_of(format))), format_of(format)) << format;
}

TEST(RowGroups, RefuseScalesFromElsewhere) {
  for (const char* text :
       {"int(group=32,per=row)", "int(group=32,per=token)", "int(group=32,scale=static)",
        "int(group=32,scale=learned)", "int(group=32,mode=mase)"})
    expect_user_error("give only bits and range with it", [&] { format_of(text); });
  expect_user_error("too few for codes of 9; use bits of 2 to 8",
                    [] { format_of("int(bits=9,group=32)"); });
}

TEST(RowGroups, HaveTheSameBitsFastAndSlow) {
  for (const std::string& format : kGroups) {
    check_fast(format, any_values(70003), {});
    check_fast(format, any_values(37 * 131), {37, 131});
    check_fast(format, any_values(3 * 5 * 17), {3, 5, 17});
    check_fast(format, {-3.0f}, {1});
    check_fast(format, {}, {4, 0});
  }
}

// This holds for 8 bits too: the largest magnitude is a whole multiple of its scale. Subnormal scales are too coarse
// for the smallest blocks of nf4.
TEST(RowGroups, AreIdempotentWhereTheyAreSymmetric) {
  for (const std::string& format : kGroups) {
    if (format.find("asymmetric") != std::string::npos) continue;
    const int low = format.starts_with("nf4") ? 13 : 40;
    check_idempotent(format, finite_values(4001, low), {});
    check_idempotent(format, finite_values(7 * 99, low), {7, 99});
  }
}

TEST(RowGroups, AsymmetricOnesKeepWhatTheyMade) {
  for (const char* format :
       {"int(bits=4,group=32,asymmetric=true)", "int(bits=2,group=16,asymmetric=true)",
        "int(bits=8,group=64,asymmetric=true)"})
    check_idempotent(format, normal_values(64 * 96), {64, 96});
}

TEST(RowGroups, IntegersAreOddWhereTheyAreSymmetric) {
  check_odd("int(bits=4,group=32)", finite_values(2000), {20, 100});
  check_odd("int(bits=4,group=4)", {1, -1, 0.5f, 0, -1, 1, 0.5f, 0}, {2, 4});
}

TEST(RowGroups, PackTheirCodes) {
  for (const std::string& format : kGroups) {
    check_packs(format, finite_values(2001), {});
    check_packs(format, normal_values(33 * 7), {33, 7});
  }
}

TEST(RowGroups, CountScalesAndZeroPoints) {
  const auto bits = [](std::string_view format, const Sizes& sizes) {
    return average_bits(format_of(format), sizes);
  };
  EXPECT_EQ(bits("int(bits=4,group=32)", {8, 64}), 4.5);
  EXPECT_EQ(bits("int(bits=4,group=32,asymmetric=true)", {8, 64}), 4.625);
  EXPECT_EQ(bits("int(bits=4,group=128)", {8, 128}), 4.125);
  EXPECT_EQ(bits("nf4", {8, 64}), 4.25);
  // Two groups per row, then one that is as wide as the row.
  EXPECT_EQ(bits("int(bits=4,group=32)", {8, 40}), 4 + 2 * 16 / 40.0);
  EXPECT_EQ(bits("int(bits=4,group=1000)", {8, 40}), 4 + 16 / 40.0);
}

TEST(RowGroups, EndWithTheirRow) {
  // The 8 in the second row must not affect the values before or after it.
  EXPECT_EQ(reference("int(bits=4,group=2)", {1, -8, 3, 0, 8, 0.5f}, {2, 3}),
            (std::vector<float>{1, -8, 3, 0, 8, 0.5f}));
  EXPECT_EQ(reference("int(bits=4,group=100)", {1, -8, 3, 0, 8, 3}, {2, 3}),
            (std::vector<float>{1, -8, 3, 0, 8, 3}));
}

TEST(RowGroups, GiveTheLargestMagnitudeTheCodeThatHasNoOpposite) {
  // The scales are -1 and 1, with codes from -8 to 7.
  EXPECT_EQ(reference("int(bits=4,group=4)", {8, -7.9f, 2.5f, 0, -8, 7.9f, 2.5f, 0}, {2, 4}),
            (std::vector<float>{8, -7, 2, 0, -8, 7, 2, 0}));
}

TEST(RowGroups, GiveAsymmetricOnesAllCodesBetweenTheEnds) {
  // 0 … 15 and -5 … 10 in steps of 1. Ranges include 0.
  EXPECT_EQ(reference("int(bits=4,group=4,asymmetric=true)", {15, 3.4f, 7.6f, 1, -5, 10, -1.2f, 0},
                      {2, 4}),
            (std::vector<float>{15, 3, 8, 1, -5, 10, -1, 0}));
  EXPECT_EQ(reference("int(bits=2,group=3,asymmetric=true)", {6, 4, 5.5f}, {1, 3}),
            (std::vector<float>{6, 4, 6}));
}

TEST(RowGroups, KeepZerosAndConstants) {
  for (const std::string& format : kGroups) {
    const std::vector<float> zeros(96), constant(96, 0.75f);
    EXPECT_EQ(reference(format, zeros, {1, 96}), zeros) << format;
    for (const float value : reference(format, constant, {1, 96}))
      EXPECT_NEAR(value, 0.75f, 0.75f * 0x1p-11f) << format;
  }
}

// Scales are clamped to the range of float16.
TEST(RowGroups, BringScalesIntoFloat16) {
  EXPECT_EQ(reference("int(bits=4,group=2)", {-3e38f, 1e6f}, {1, 2}),
            (std::vector<float>{-8 * 65504, 7 * 65504}));
  EXPECT_EQ(reference("nf4(block=2)", {-3e38f, 1e30f}, {1, 2}),
            (std::vector<float>{-65504, 65504}));
  EXPECT_EQ(reference("int(bits=4,group=2)", {1e-30f, 0x1p-24f}, {1, 2}),
            (std::vector<float>{0, 0x1p-24f}));
}

TEST(RowGroups, KeepNaNAndSaturateInfinities) {
  const std::vector<float> x = {1, NAN, INFINITY, -INFINITY, -8, 3, NAN, 0, 0, INFINITY, 0, 0};
  for (const char* format :
       {"int(bits=4,group=4)", "int(bits=4,group=4,asymmetric=true)", "nf4(block=4)"}) {
    const std::vector<float> y = reference(format, x, {3, 4});
    EXPECT_TRUE(std::isnan(y[1]) && std::isnan(y[6])) << format;
    for (const std::size_t i : {0, 2, 3, 4, 5, 7, 8, 9, 10, 11})
      EXPECT_TRUE(std::isfinite(y[i])) << format << " at " << i;
    EXPECT_EQ(y[8], 0) << format;
    const Format parsed = format_of(format);
    expect_user_error("has no code for nan", [&] { parsed.def->encode({parsed, {3, 4}, x, {}}); });
  }
  const std::vector<float> y = reference("int(bits=4,group=4)", x, {3, 4});
  EXPECT_EQ(y[2], 1);        // -8 times the scale -1/8
  EXPECT_EQ(y[3], -0.875f);  // 7 times the scale
}

// Every level of a block with largest magnitude 1 keeps its value and its code.
TEST(Nf4, CodesAreTheNumbersOfTheLevels) {
  const Format format = format_of("nf4(block=16)");
  Codes codes{{}, {0x3c00}};
  for (std::uint32_t code = 0; code < 16; ++code) codes.elements.push_back(code);
  std::vector<float> levels(16);
  format.def->decode({format, {16}, {}, {}}, codes, levels);
  EXPECT_EQ(levels.front(), -1);
  EXPECT_EQ(levels[7], 0);
  EXPECT_EQ(levels.back(), 1);
  EXPECT_TRUE(std::ranges::is_sorted(levels));
  const Codes again = format.def->encode({format, {16}, levels, {}});
  EXPECT_EQ(again.elements, codes.elements);
  EXPECT_EQ(again.shared, codes.shared);
}

TEST(HalfScales, AreTheNearestFloat16) {
  EXPECT_EQ(scalar::half_scale(1), 0x3c00u);
  EXPECT_EQ(scalar::half_scale(-0.5f), 0xb800u);
  EXPECT_EQ(scalar::half_scale(1 + 0x1p-11f), 0x3c00u);  // ties to even
  EXPECT_EQ(scalar::half_scale(1 + 3 * 0x1p-11f), 0x3c02u);
  EXPECT_EQ(scalar::half_scale(0), 0x0001u);
  EXPECT_EQ(scalar::half_scale(0x1.8p-24f), 0x0002u);
  EXPECT_EQ(scalar::half_scale(std::nextafter(0x1p-14f, 0.0f)), 0x0400u);
  EXPECT_EQ(scalar::half_scale(1e9f), 0x7bffu);
  EXPECT_EQ(scalar::half_scale_below(1 + 3 * 0x1p-11f), 0x3c01u);
  EXPECT_EQ(scalar::half_scale_below(1), 0x3c00u);
  EXPECT_EQ(scalar::half_scale_below(0), 0x0001u);
  for (std::uint32_t bits = 1; bits < 0x7c00; ++bits) {
    ASSERT_EQ(scalar::half_scale(scalar::half_value(bits)), bits);
    ASSERT_EQ(scalar::half_scale(scalar::half_value(bits | 0x8000)), bits | 0x8000);
  }
  EXPECT_EQ(scalar::half_value(0x7c00), std::numeric_limits<float>::infinity());
  EXPECT_TRUE(std::isnan(scalar::half_value(0xfe01)));
}

}  // namespace
}  // namespace hone::testing
