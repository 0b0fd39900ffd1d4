#pragma once

#include "hone/formats/format.h"

namespace hone {

/// Integers of `bits` bits with a scale per block: MXINT8 of the OCP Microscaling formats, generalized to any width and
/// block: X = 2^floor(log2(max|x|)) and
///   y = X clamp(round(x / X 2^(bits-2)), -h, h) / 2^(bits-2),  h = 2^(bits-1) - 1,
/// ties to even. With `scale=ceil`, X is the smallest power of two with which nothing saturates. The scale is a byte,
/// 2^-127 … 2^127, and 255 for NaN: a block with a NaN or an infinity is NaN.
///
/// `mode=mase`: X = 2^ceil(log2(max|x|)), asymmetric two's complement, blocks over the flattened tensor; a block with
/// values above 2^127 is NaN.
///
/// Source: OCP Microscaling Formats (MX) Specification 1.0.
FormatDef mxint_format();

}  // namespace hone
