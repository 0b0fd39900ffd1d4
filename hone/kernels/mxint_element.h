#pragma once

#include <cstdint>

/// MXINT in memory and the value of an element: the reference definition for the fast kernels.
///
/// An element is an integer m of `bits` bits in two's complement; a group of `group` consecutive elements shares a byte
/// E. There are two dialects:
///
/// `ocp`: y = m 2^(2 - bits) 2^(E - 127) for all m and E <= 254, and NaN if E is 255.
///
/// `mase`, as mase-cuda decodes: the magnitude |m| is a unit bit, 2^(bits - 2), above a fraction. bfloat16 has an
/// implicit leading one, so the value is `out` with the fields (sign of m, E, fraction) if the unit bit is set, else
/// out - bias, where `bias` has the fields (sign of m, E, 0). So y is that of `ocp`, except for m = -2^(bits - 1),
/// which is 0 (its unit bit and fraction are 0), and for the scales 0 (subnormal: 2 fraction 2^(2 - bits) 2^-127, the
/// unit is lost) and 255 (infinity, or NaN with the fraction in it; NaN if the bias is subtracted).
///
/// bfloat16 represents every y exactly, including subnormal values. NaN from arithmetic is 0x7fc0.
///
/// Source: OCP Microscaling Formats (MX) Specification 1.0; for `mase` the behaviour of DeepWok/mase-cuda, which
/// supports only 8 bits.
namespace hone::kernels {

enum class MxintDialect : std::uint8_t { ocp, mase };

/// `count` elements in memory.
struct MxintCodes {
  std::int64_t count = 0;
  std::int64_t group = 1;  ///< >= 1; the last group may be shorter; groups span rows
  int bits = 8;            ///< 8: one byte each; 4: two per byte, the first in the lower half
  const std::uint8_t* codes = nullptr;   ///< code_bytes() bytes
  const std::uint8_t* scales = nullptr;  ///< groups() bytes

  std::int64_t groups() const { return count / group + (count % group != 0 ? 1 : 0); }
  std::int64_t code_bytes() const { return bits == 8 ? count : count / 2 + count % 2; }
};

/// All parts of an element; bfloat16 as bits.
struct MxintElement {
  int bits = 8;
  int mantissa = 0;        ///< m
  std::uint8_t scale = 0;  ///< E

  bool negative = false;
  int magnitude = 0;           ///< |m|
  bool has_unit = false;       ///< |m| & 0x40; with 4 bits |m| & 0x4
  int fraction = 0;            ///< the bits below the unit bit
  std::uint16_t out = 0;       ///< fields (sign, E, fraction)
  std::uint16_t bias = 0;      ///< fields (sign, E, 0)
  bool subtracts_bias = true;  ///< there is no unit bit

  std::uint16_t mase = 0;  ///< y in each dialect
  std::uint16_t ocp = 0;
};

/// Computes all parts of an element. `mantissa` is within -2^(bits - 1) to 2^(bits - 1) - 1, `bits` is 4 or 8.
MxintElement decompose_mxint(int bits, int mantissa, std::uint8_t scale);

/// Returns the mantissa of an element.
int mxint_mantissa(const MxintCodes& x, std::int64_t element);

/// Decodes x to y (count) as bfloat16, one element after the other.
void dequantize_reference(const MxintCodes& x, MxintDialect dialect, std::uint16_t* y);

/// Encodes x (count) to bytes, one group after the other; see `quantize_mxint8`.
void quantize_mxint8_reference(std::int64_t count, std::int64_t group, MxintDialect dialect,
                               const float* x, std::uint8_t* codes, std::uint8_t* scales);

}  // namespace hone::kernels
