#pragma once

#include <cstdint>

/// MXINT in memory, and what one of its elements stands for: the plain definition that the fast kernels are held to.
///
/// An element is a whole number m of `bits` bits in two's complement; a run of `group` elements, a group, shares a byte E. Two
/// dialects read them:
///
/// `ocp`: y = m 2^(2 - bits) 2^(E - 127) for all m and E <= 254, and NaN where E is 255.
///
/// `mase`, as mase-cuda decodes: the magnitude |m| is a bit for the unit, 2^(bits - 2), above a fraction. As bfloat16 has a
/// leading one of its own, out with the fields (sign of m, E, fraction) is the value where the unit is there, else out - bias,
/// bias with the fields (sign of m, E, 0). So y is that of `ocp` but for m = -2^(bits - 1), which is 0 (its unit and fraction
/// are), and for scales whose fields are no plain numbers: 0 (subnormal: 2 fraction 2^(2 - bits) 2^-127, the unit lost) and
/// 255 (infinity, NaN with the fraction in it; NaN where the bias is subtracted).
///
/// bfloat16 holds every y exactly, subnormal ones too. NaN that arithmetic gives is 0x7fc0.
///
/// Source: OCP Microscaling Formats (MX) Specification 1.0; for `mase` the behaviour of DeepWok/mase-cuda, which has 8 bits
/// alone.
namespace hone::kernels {

enum class MxintDialect : std::uint8_t { ocp, mase };

/// `count` elements in memory.
struct MxintCodes {
  std::int64_t count = 0;
  std::int64_t group = 1;  ///< >= 1; the last group may be shorter, and none begins anew with a row
  int bits = 8;            ///< 8: a byte each; 4: two to a byte, the first in its lower half
  const std::uint8_t* codes = nullptr;   ///< code_bytes() of them
  const std::uint8_t* scales = nullptr;  ///< groups() of them

  std::int64_t groups() const { return count / group + (count % group != 0 ? 1 : 0); }
  std::int64_t code_bytes() const { return bits == 8 ? count : count / 2 + count % 2; }
};

/// One element spelled out; bfloat16 as its bits.
struct MxintElement {
  int bits = 8;
  int mantissa = 0;        ///< m
  std::uint8_t scale = 0;  ///< E

  bool negative = false;
  int magnitude = 0;           ///< |m|
  bool has_unit = false;       ///< |m| & 0x40, of 4 bits |m| & 0x4
  int fraction = 0;            ///< what stands below that bit
  std::uint16_t out = 0;       ///< fields (sign, E, fraction)
  std::uint16_t bias = 0;      ///< fields (sign, E, 0)
  bool subtracts_bias = true;  ///< the branch taken: there is no unit

  std::uint16_t mase = 0;  ///< y by both dialects
  std::uint16_t ocp = 0;
};

/// `mantissa` within -2^(bits - 1) … 2^(bits - 1) - 1, `bits` 4 or 8.
MxintElement spell_mxint(int bits, int mantissa, std::uint8_t scale);

/// The mantissa of an element.
int mxint_mantissa(const MxintCodes& x, std::int64_t element);

/// y (count) as bfloat16, an element after the other.
void dequantize_reference(const MxintCodes& x, MxintDialect dialect, std::uint16_t* y);

/// x (count) to bytes, a group after the other; see `quantize_mxint8`.
void quantize_mxint8_reference(std::int64_t count, std::int64_t group, MxintDialect dialect,
                               const float* x, std::uint8_t* codes, std::uint8_t* scales);

}  // namespace hone::kernels
