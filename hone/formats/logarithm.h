#pragma once

#include "hone/formats/format.h"

namespace hone {

/// `log`: powers of two, y = sign(x) 2^round(log2|x|) with exponents from 1 - bias to 2^(width - 1) - 1 - bias, and
/// zero for smaller magnitudes. Exponents outside those of normal floats (-126 to 127) are not used. Infinities
/// saturate, NaN stays NaN. Code: sign, exponent plus bias; 0 is zero.
///
/// `exponent_bias=auto` makes the bias a state chosen by calibration: the one whose largest power is the first not
/// below the largest magnitude.
///
/// `mode=mase` gives the values of MASE's quantizer, which has no zero: 0 becomes 2^-bias. Its `auto` is
/// 2^(width - 2) - 1, without calibration; other biases must be given.
FormatDef log_format();

}  // namespace hone
