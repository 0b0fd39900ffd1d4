#pragma once

#include "hone/formats/format.h"

namespace hone {

/// Block floating point (MSFP): a sign and width-1 = m mantissa bits per value, an exponent e per
/// block of `rows` × `block` values:
///   y = sign(x) min(round(|x| / 2^e 2^m), 2^m - 1) 2^(e-m),  ties to even.
/// e is the smallest exponent for which the largest magnitude of the block does not round to 2^m,
/// within -exponent_bias … 2^exponent_width - 1 - exponent_bias; beyond them values saturate. A
/// block with a NaN or an infinity becomes NaN and has no code.
///
/// `mode=mase`: e = ceil(log2(max|x|)), so powers of two are clipped to the number below them. 1e-9 is added to
/// magnitudes, those up to 1e-8 pass unquantized, and infinities become NaN.
///
/// Source: B. Darvish Rouhani et al., "Pushing the Limits of Narrow Precision Inferencing at Cloud
/// Scale with Microsoft Floating Point", NeurIPS 2020.
FormatDef block_fp_format();

}  // namespace hone
