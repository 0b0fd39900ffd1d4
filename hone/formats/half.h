#pragma once

#include "hone/formats/format.h"

/// The 16-bit floats of hardware: round to nearest, ties to even. Values that are too large become infinity, infinities
/// and NaN stay. Codes are the 16-bit patterns, so every value has one.
namespace hone {

/// bfloat16: the upper half of a float, 8 exponent and 7 mantissa bits.
FormatDef bf16_format();

/// IEEE 754 binary16: 5 exponent and 10 mantissa bits.
FormatDef fp16_format();

}  // namespace hone
