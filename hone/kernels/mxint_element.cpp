#include "hone/kernels/mxint_element.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "hone/base/error.h"

namespace hone::kernels {
namespace {

constexpr std::uint16_t kNan = 0x7fc0;
constexpr int kFractionBits = 7;  // of bfloat16

float widened(std::uint16_t bits) { return std::bit_cast<float>(std::uint32_t{bits} << 16); }

// Returns the upper half of a float whose lower half is 0.
std::uint16_t narrowed(float value) {
  if (std::isnan(value)) return kNan;
  const auto bits = std::bit_cast<std::uint32_t>(value);
  HONE_ASSERT((bits & 0xffff) == 0, "{} is no bfloat16", value);
  return static_cast<std::uint16_t>(bits >> 16);
}

std::uint16_t ocp_value(int bits, int mantissa, int scale) {
  if (scale == 255) return kNan;
  return narrowed(static_cast<float>(std::ldexp(mantissa, scale - 127 - (bits - 2))));
}

// Returns |x| rounded to bfloat16, ties to even, with subnormal values flushed to zero.
float rounded_magnitude(float x) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(std::fabs(x));
  if (bits > 0x7f800000) return std::bit_cast<float>(0x7f800000);  // NaN counts as infinity
  const std::uint32_t upper = (bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000;
  return upper < 0x00800000 ? 0 : std::bit_cast<float>(upper);
}

}  // namespace

MxintElement decompose_mxint(int bits, int mantissa, std::uint8_t scale) {
  HONE_ASSERT(bits == 4 || bits == 8, "{} bits", bits);
  const int unit = 1 << (bits - 2);
  MxintElement e{.bits = bits, .mantissa = mantissa, .scale = scale};
  e.negative = mantissa < 0;
  e.magnitude = std::abs(mantissa);
  e.has_unit = (e.magnitude & unit) != 0;
  e.fraction = e.magnitude & (unit - 1);
  const int sign_and_scale = (e.negative ? 1 << 15 : 0) | scale << kFractionBits;
  e.out = static_cast<std::uint16_t>(sign_and_scale | e.fraction << (kFractionBits - (bits - 2)));
  e.bias = static_cast<std::uint16_t>(sign_and_scale);
  e.subtracts_bias = !e.has_unit;
  e.mase = e.has_unit ? e.out : narrowed(widened(e.out) - widened(e.bias));
  e.ocp = ocp_value(bits, mantissa, scale);
  return e;
}

int mxint_mantissa(const MxintCodes& x, std::int64_t element) {
  if (x.bits == 8) return static_cast<std::int8_t>(x.codes[element]);
  const int code = x.codes[element / 2] >> (element % 2 * 4) & 15;
  return (code ^ 8) - 8;
}

void dequantize_reference(const MxintCodes& x, MxintDialect dialect, std::uint16_t* y) {
  for (std::int64_t i = 0; i < x.count; ++i) {
    const MxintElement element =
        decompose_mxint(x.bits, mxint_mantissa(x, i), x.scales[i / x.group]);
    y[i] = dialect == MxintDialect::mase ? element.mase : element.ocp;
  }
}

void quantize_mxint8_reference(std::int64_t count, std::int64_t group, MxintDialect dialect,
                               const float* x, std::uint8_t* codes, std::uint8_t* scales) {
  const auto magnitude = [&](std::int64_t i) {
    return dialect == MxintDialect::mase ? rounded_magnitude(x[i]) : std::fabs(x[i]);
  };
  for (std::int64_t first = 0; first < count; first += group) {
    const std::int64_t end = std::min(count, first + group);
    std::uint32_t largest = 0;
    for (std::int64_t i = first; i < end; ++i)
      largest = std::max(largest, std::bit_cast<std::uint32_t>(magnitude(i)));
    const int scale = static_cast<int>(std::min<std::uint32_t>(largest >> 23, 255));
    scales[first / group] = static_cast<std::uint8_t>(scale);
    for (std::int64_t i = first; i < end; ++i) {
      const double steps =
          scale == 255 ? 0 : std::nearbyint(std::ldexp(double{magnitude(i)}, 133 - scale));
      const int code = static_cast<int>(std::min(steps, 127.0));
      codes[i] = static_cast<std::uint8_t>(x[i] < 0 ? -code : code);
    }
  }
}

}  // namespace hone::kernels
