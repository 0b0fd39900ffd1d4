#pragma once

#include "hone/formats/format.h"

namespace hone {

/// Powers of two and zero, y = sign(x) 2^round(log2|x|). The exponent bias is chosen per block of `rows` × `block`
/// values, so that the largest power is the first not below the largest magnitude:
///   bias = 2^(width-1) - 1 - t,  t = ceil(log2(max|x|)),  exponents 1 - bias … t.
/// Values that round to less than the smallest power become 0; powers below 2^-126 are not used. The block stores t as
/// a signed number of exponent_bias_width bits, to whose range t is clamped. A block with a NaN or an infinity becomes
/// NaN and has no code.
///
/// `mode=mase`: the bias is within 0 … 2^exponent_bias_width - 1, and there is no zero: zeros and magnitudes that are
/// too small become 2^-bias, even negative ones.
///
/// Source: LogNet, D. Miyashita et al., "Convolutional Neural Networks using Logarithmic Data
/// Representation", 2016, with the blocks of block_minifloat.
FormatDef block_log_format();

}  // namespace hone
