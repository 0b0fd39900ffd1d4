#pragma once

#include "hone/formats/format.h"

namespace hone {

/// Small floats (see minifloat_ieee) whose exponent bias is chosen per block of `rows` × `block` values, so that the
/// topmost binade is that of the largest magnitude:
///   bias = 2^exponent_width - 1 - t,  t = floor(log2(max|x|)).
/// The block stores t as a signed number of exponent_bias_width bits, to whose range t is clamped; values above the
/// topmost binade then saturate. A block with a NaN or an infinity becomes NaN and has no code.
///
/// `mode=mase`: bias = floor(log2(max|x|)) within 0 … 2^exponent_bias_width - 1. Its sign is wrong, so most values of
/// blocks below 2 become zero. The rest is as in minifloat_ieee.
///
/// Source: S. Fox et al., "A Block Minifloat Representation for Training Deep Neural Networks",
/// ICLR 2021.
FormatDef block_minifloat_format();

}  // namespace hone
