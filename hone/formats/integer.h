#pragma once

#include "hone/formats/format.h"

namespace hone {

/// Fixed point, two's complement: y = clamp(round(x 2^frac), -2^(width-1), 2^(width-1) - 1) / 2^frac, ties to even;
/// unsigned from 0 to 2^width - 1. NaN stays NaN, infinities saturate. `frac=auto` makes the fraction a state chosen by
/// calibration: the largest one that represents the observed range.
FormatDef integer_format();

}  // namespace hone
