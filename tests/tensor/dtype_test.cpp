#include "hone/tensor/dtype.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "tests/support/expect.h"

namespace hone {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// A small float format with these bits of exponent and fraction, decoded as IEEE 754 defines.
struct Layout {
  int exponent_bits;
  int fraction_bits;
};
constexpr Layout kHalf{5, 10};
constexpr Layout kBFloat16{8, 7};

double value_by_definition(std::uint16_t bits, const Layout& layout) {
  const int exponent = bits >> layout.fraction_bits & ((1 << layout.exponent_bits) - 1);
  const int fraction = bits & ((1 << layout.fraction_bits) - 1);
  const int bias = (1 << (layout.exponent_bits - 1)) - 1;
  const double sign = (bits & 0x8000) != 0 ? -1 : 1;
  if (exponent == (1 << layout.exponent_bits) - 1) return fraction != 0 ? NAN : sign * INFINITY;
  if (exponent == 0) return sign * std::ldexp(fraction, 1 - bias - layout.fraction_bits);
  return sign *
         std::ldexp((1 << layout.fraction_bits) + fraction, exponent - bias - layout.fraction_bits);
}

template <typename Small>
void expect_exact_widening(const Layout& layout) {
  for (std::uint32_t bits = 0; bits <= 0xffff; ++bits) {
    const Small small{static_cast<std::uint16_t>(bits)};
    const double expected = value_by_definition(small.bits, layout);
    const float got = to_float(small);
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(got)) << bits;
    } else {
      ASSERT_EQ(got, expected) << bits;
      ASSERT_EQ(std::signbit(got), std::signbit(expected)) << bits;
    }
  }
}

TEST(Half, WidensExactly) { expect_exact_widening<Half>(kHalf); }
TEST(BFloat16, WidensExactly) { expect_exact_widening<BFloat16>(kBFloat16); }

// Rounding is monotonic. So it is right everywhere if it is right at every representable value, at every midpoint
// between two neighbours, and at the floats next to these points.
template <typename Small, typename Narrow>
void expect_rounding_to_nearest_even(const Layout& layout, Narrow&& narrow) {
  const auto infinity =
      static_cast<std::uint16_t>(((1 << layout.exponent_bits) - 1) << layout.fraction_bits);
  for (std::uint16_t bits = 0; bits < infinity; ++bits) {
    const auto next = static_cast<std::uint16_t>(bits + 1);
    const float low = to_float(Small{bits});
    // The largest value rounds up to the next power of two, as if the exponent range went on.
    const double high = next == infinity ? std::ldexp(1.0, (1 << (layout.exponent_bits - 1)))
                                         : to_float(Small{next});
    const auto middle = static_cast<float>((low + high) / 2);
    const std::uint16_t even = bits % 2 == 0 ? bits : next;
    for (const float sign : {1.f, -1.f}) {
      const auto signed_bits = [&](std::uint16_t magnitude) {
        return magnitude | (sign < 0 ? 0x8000 : 0);
      };
      ASSERT_EQ(narrow(sign * low).bits, signed_bits(bits)) << low;
      ASSERT_EQ(narrow(sign * middle).bits, signed_bits(even)) << middle;
      ASSERT_EQ(narrow(sign * std::nextafter(middle, 0.f)).bits, signed_bits(bits))
          << "below " << middle;
      ASSERT_EQ(narrow(sign * std::nextafter(middle, kInfinity)).bits, signed_bits(next))
          << "above " << middle;
    }
  }
  EXPECT_EQ(narrow(kInfinity).bits, infinity);
  EXPECT_EQ(narrow(-kInfinity).bits, infinity | 0x8000);
  EXPECT_EQ(narrow(std::numeric_limits<float>::max()).bits, infinity);
}

TEST(Half, RoundsToNearestTiesToEven) {
  expect_rounding_to_nearest_even<Half>(kHalf, [](float value) { return to_half(value); });
}
TEST(BFloat16, RoundsToNearestTiesToEven) {
  expect_rounding_to_nearest_even<BFloat16>(kBFloat16,
                                            [](float value) { return to_bfloat16(value); });
}

TEST(SmallFloats, KeepNan) {
  for (const std::uint32_t bits :
       {0x7f800001u, 0x7fffffffu, 0xff800001u, 0xffffffffu, 0x7fc00000u}) {
    const float nan = std::bit_cast<float>(bits);
    EXPECT_TRUE(std::isnan(to_float(to_half(nan)))) << bits;
    EXPECT_TRUE(std::isnan(to_float(to_bfloat16(nan)))) << bits;
  }
}

TEST(DType, NamesReadBack) {
  for (const DTypeInfo& row : kDTypes) EXPECT_EQ(parse_dtype(row.name), row.dtype);
  EXPECT_EQ(user_error_of([] { parse_dtype("float32"); }),
            "'float32' is not an element type; expected one of f32, f16, bf16, f64, i64, i32, i8, "
            "u8, bool");
}

TEST(DType, SizesAreThoseOfTheTypes) {
  EXPECT_EQ(info(dtype_of<float>).size_bytes, sizeof(float));
  EXPECT_EQ(info(dtype_of<Half>).size_bytes, sizeof(Half));
  EXPECT_EQ(info(dtype_of<BFloat16>).size_bytes, sizeof(BFloat16));
  EXPECT_EQ(info(dtype_of<double>).size_bytes, sizeof(double));
  EXPECT_EQ(info(dtype_of<std::int64_t>).size_bytes, sizeof(std::int64_t));
  EXPECT_EQ(info(dtype_of<std::int32_t>).size_bytes, sizeof(std::int32_t));
  EXPECT_EQ(info(dtype_of<std::int8_t>).size_bytes, sizeof(std::int8_t));
  EXPECT_EQ(info(dtype_of<std::uint8_t>).size_bytes, sizeof(std::uint8_t));
  EXPECT_EQ(info(dtype_of<bool>).size_bytes, sizeof(bool));
}

}  // namespace
}  // namespace hone
