#include "hone/kernels/half_conversion.h"

#include <bit>

#include "tests/kernels/kernel_testing.h"

namespace hone::kernels {
namespace {

// A 16-bit format and its conversions.
struct Format {
  int mantissa_bits;
  int least_exponent;  // of normal numbers
  float largest;
  void (*narrow)(ThreadPool&, std::int64_t, const float*, std::uint16_t*);
  void (*widen)(ThreadPool&, std::int64_t, const std::uint16_t*, float*);
};

const Format kBfloat16{7, -126, 0x1.fep127f, float_to_bfloat16, bfloat16_to_float};
const Format kFloat16{10, -14, 65504.0f, float_to_float16, float16_to_float};

std::vector<std::uint16_t> narrowed(const Format& format, const std::vector<float>& x) {
  return same_for_any_target([&](ThreadPool& pool) {
    std::vector<std::uint16_t> y(x.size());
    format.narrow(pool, static_cast<std::int64_t>(x.size()), x.data(), y.data());
    return y;
  });
}

std::vector<float> widened(const Format& format, const std::vector<std::uint16_t>& x) {
  return same_for_any_target([&](ThreadPool& pool) {
    std::vector<float> y(x.size());
    format.widen(pool, static_cast<std::int64_t>(x.size()), x.data(), y.data());
    return y;
  });
}

// Returns the value of a bit pattern by the definition of the format.
double value_of(const Format& format, std::uint16_t bits) {
  const int exponent_bits = 15 - format.mantissa_bits;
  const int exponent = bits >> format.mantissa_bits & ((1 << exponent_bits) - 1);
  const int mantissa = bits & ((1 << format.mantissa_bits) - 1);
  const double sign = bits >> 15 ? -1.0 : 1.0;
  if (exponent == (1 << exponent_bits) - 1) return mantissa ? std::nan("") : sign * kInfinity;
  const double significand = std::ldexp(mantissa, -format.mantissa_bits) + (exponent ? 1 : 0);
  return sign * std::ldexp(significand, format.least_exponent + (exponent ? exponent - 1 : 0));
}

// Returns the nearest value of the format, ties to even, by rounding to its spacing at x.
double rounded(const Format& format, float x) {
  if (std::isinf(x) || x == 0) return x;
  const int exponent = std::max(std::ilogb(x), format.least_exponent);
  const double spacing = std::ldexp(1.0, exponent - format.mantissa_bits);
  const double value = std::nearbyint(x / spacing) * spacing;
  return std::abs(value) > format.largest ? std::copysign(double{kInfinity}, x) : value;
}

std::vector<std::uint16_t> all_patterns() {
  std::vector<std::uint16_t> bits(65536);
  for (int i = 0; i < 65536; ++i) bits[i] = static_cast<std::uint16_t>(i);
  return bits;
}

void check_format(const Format& format) {
  const auto patterns = all_patterns();
  const auto values = widened(format, patterns);
  const auto back = narrowed(format, values);
  for (const std::uint16_t bits : patterns) {
    const double want = value_of(format, bits);
    if (std::isnan(want)) {
      ASSERT_TRUE(std::isnan(values[bits]));
      ASSERT_TRUE(std::isnan(value_of(format, back[bits]))) << bits;
      ASSERT_EQ(back[bits] >> 15, bits >> 15);
    } else {
      ASSERT_EQ(values[bits], want) << bits;
      ASSERT_EQ(back[bits], bits) << want;
    }
  }
  // floats of all exponents, and midpoints between two values of the format
  std::vector<float> x;
  RandomSequence random(9, 1);
  for (int i = 0; i < 100'000; ++i) {
    const auto bits = random.next_word();
    const auto ending = i % 4;  // a midpoint, just below, just above, anything
    const std::uint32_t half = 1u << (22 - format.mantissa_bits);
    const std::uint32_t kept = bits & ~(2 * half - 1);
    const float value = std::bit_cast<float>(ending == 0   ? kept + half
                                             : ending == 1 ? kept + half - 1
                                             : ending == 2 ? kept + half + 1
                                                           : bits);
    if (!std::isnan(value)) x.push_back(value);
  }
  const auto y = narrowed(format, x);
  for (std::size_t i = 0; i < x.size(); ++i) {
    ASSERT_EQ(value_of(format, y[i]), rounded(format, x[i])) << x[i];
    ASSERT_EQ(y[i] >> 15, std::signbit(x[i])) << x[i];
  }
}

TEST(HalfConversion, Bfloat16IsNearestEvenAndExactBack) { check_format(kBfloat16); }

TEST(HalfConversion, Float16IsNearestEvenAndExactBack) { check_format(kFloat16); }

TEST(HalfConversion, TailsOfAllSizesConvert) {
  for (const std::int64_t n : kOddSizes) {
    EXPECT_EQ(narrowed(kBfloat16, std::vector<float>(n, 1.0f)),
              std::vector<std::uint16_t>(n, 0x3f80));
    EXPECT_EQ(widened(kFloat16, std::vector<std::uint16_t>(n, 0x3c00)),
              std::vector<float>(n, 1.0f));
  }
}

}  // namespace
}  // namespace hone::kernels
