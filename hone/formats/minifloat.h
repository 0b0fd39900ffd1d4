#pragma once

#include "hone/formats/format.h"

namespace hone {

/// Floats of `width` bits: a sign, `exponent_width` bits of exponent field f, m bits of mantissa
/// field q. All codes are finite.
///
/// With an implicit leading one: (1 + q 2^-m) 2^(f - bias), and q 2^(1 - bias - m) for f = 0. Rounds to the nearest,
/// ties to an even multiple of the step; infinities saturate, NaN stays NaN. Exponents above 127 are not used, because
/// floats have none.
///
/// `exponent_bias=auto` is 2^(exponent_width - 1) - 1. `mode=mase` gives the values of MASE's quantizer: no carry into
/// the next binade, magnitudes up to 1e-8 pass unchanged, infinities become NaN.
FormatDef minifloat_ieee_format();

/// The same without an implicit one: q 2^(f - bias - m). In `mode=mase` powers of two become the
/// number below them.
FormatDef minifloat_denorm_format();

}  // namespace hone
