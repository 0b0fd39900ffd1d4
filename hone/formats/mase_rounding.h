#pragma once

#include <cstdint>

/// Rounding of single values as in the Python project MASE, bit for bit: `mode=mase` of several formats. MASE computes
/// with float tensors, and rounds log2 to float before taking its integral part.
namespace hone {

/// Sign, exponent field and mantissa field of a float of MASE.
struct MaseFloat {
  int exponent_width = 0;
  int mantissa_bits = 0;
  std::int64_t exponent_bias = 0;
};

/// Rounds with an implicit leading one and subnormals. Does not carry into the next binade, passes magnitudes up to
/// 1e-8 unchanged, and turns infinities into NaN.
float mase_minifloat_ieee(const MaseFloat& format, float x);

/// Rounds without the leading one: powers of two become the number below them, because their mantissa would need one
/// more bit. Otherwise like `mase_minifloat_ieee`.
float mase_minifloat_denorm(const MaseFloat& format, float x);

/// Rounds to a mantissa without leading one and a given exponent: a value of a block of block_fp.
float mase_mantissa(int mantissa_bits, float exponent, float x);

/// Returns log2 of a float, rounded to float.
float mase_log2(float x);

/// Rounds to powers of two with exponents of `exponent_width` bits, without zero. `offset`, a tenth of the smallest
/// power, is added to x and to |x|, so zeros and small negative values become the smallest positive power.
float mase_log(int exponent_width, std::int64_t exponent_bias, float offset, float x);

}  // namespace hone
