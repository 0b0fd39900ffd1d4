#pragma once

#include <cstdint>

/// Rounding of single values as the Python project MASE does it, bit for bit: what `mode=mase` of
/// several formats means. Its arithmetic is that of float tensors, and log2 is rounded to float
/// before its integral part is taken.
namespace hone {

/// Sign, exponent field and mantissa field of a float of MASE.
struct MaseFloat {
  int exponent_width = 0;
  int mantissa_bits = 0;
  std::int64_t exponent_bias = 0;
};

/// With an implicit leading one and subnormals. Does not carry into the next binade, lets
/// magnitudes up to 1e-8 pass, and makes infinities NaN.
float mase_minifloat_ieee(const MaseFloat& format, float x);

/// Without the leading one: powers of two become the number below them, for their mantissa would
/// need one bit more. The rest as above.
float mase_minifloat_denorm(const MaseFloat& format, float x);

/// A mantissa without leading one and a given exponent: a value of a block of block_fp.
float mase_mantissa(int mantissa_bits, float exponent, float x);

/// log2 of a float, rounded to float.
float mase_log2(float x);

/// Powers of two with exponents of `exponent_width` bits, no zero: `offset`, a tenth of the
/// smallest, is added to x and to |x|, so that zeros and small negative values come out as the
/// smallest positive power.
float mase_log(int exponent_width, std::int64_t exponent_bias, float offset, float x);

}  // namespace hone
