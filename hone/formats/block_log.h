#pragma once

#include "hone/formats/format.h"

namespace hone {

/// Powers of two and zero, y = sign(x) 2^round(log2|x|), whose exponent bias is chosen per block of
/// `rows` × `block` values, so that the largest power is the first not below the largest magnitude:
///   bias = 2^(width-1) - 1 - t,  t = ceil(log2(max|x|)),  exponents 1 - bias … t.
/// What rounds to less than the smallest power becomes 0; powers below 2^-126 are not used. The
/// block stores t as a signed number of exponent_bias_width bits, within which it stays. A block
/// with a NaN or an infinity becomes NaN and has no code.
///
/// `mode=mase`: bias within 0 … 2^exponent_bias_width - 1, and no zero: zeros and what is too small
/// become 2^-bias, small negative values, too.
///
/// Source: LogNet, D. Miyashita et al., "Convolutional Neural Networks using Logarithmic Data
/// Representation", 2016, with the blocks of block_minifloat.
FormatDef block_log_format();

}  // namespace hone
