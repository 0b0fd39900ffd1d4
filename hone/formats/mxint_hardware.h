#pragma once

#include "hone/formats/format.h"

namespace hone {

/// Integers with a step per block, for hardware with a small exponent adder: blocks of `rows` x `block` values,
/// y = q 2^e with q in two's complement of `width` bits and e an exponent of `exponent_width` bits, biased by
/// b = 2^(exponent_width-1).
///
/// e = floor(log2 max|x|) + 2 - width within [-b, 2^exponent_width - 1 - b], so that the largest magnitude uses the
/// topmost bit; q = round(x 2^-e), ties to even, -2^(width-1) unused. A block with a NaN or an infinity becomes NaN.
/// `mode=mase` subtracts the bias instead of the width, and rounds down.
FormatDef mxint_hardware_format();

}  // namespace hone
