#pragma once

#include "hone/formats/format.h"

namespace hone {

/// Small floats with a scale per block, the MXFP8, MXFP6 and MXFP4 formats of the OCP Microscaling
/// specification: X = 2^(floor(log2(max|x|)) - emax) and y = X P(x / X), where P rounds to the
/// element format (ties to even, subnormals, saturating) whose largest number is in the binade
/// emax:
///   element   e4m3   e5m2  e3m2  e2m3  e2m1
///   emax         8     15     4     2     2
///   largest    448  57344    28   7.5     6
/// With `scale=ceil`, X is the smallest power of two with which nothing saturates. The scale is a byte, 2^-127 … 2^127,
/// and 255 for NaN: a block with a NaN or an infinity is NaN. Codes of NaN and infinity in elements (e4m3, e5m2) are
/// read, but never written.
///
/// `mode=mase`: element formats use all codes, so the largest e4m3 is 480 and the largest e5m2 114688. They do not
/// carry into the next binade, and lose numbers near zero. Blocks run over the flattened tensor.
///
/// Source: OCP Microscaling Formats (MX) Specification 1.0.
FormatDef mxfp_format();

}  // namespace hone
