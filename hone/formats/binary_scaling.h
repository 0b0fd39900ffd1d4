#pragma once

#include "hone/formats/format.h"

namespace hone {

/// y = alpha sign(x) with sign(0) = +1, for activations as well as weights: alpha is a state that
/// starts at the observed mean|x|, per tensor or per row, fixed or learned. NaN stays NaN.
///
/// Gradients pass where |x| <= max(1, |alpha|): the clip of the usual straight-through estimator,
/// wide enough for the format's own values. A learned alpha gets the sum of dy sign(x) divided by
/// sqrt(elements) (Esser et al., "Learned step size quantization", 2020).
FormatDef binary_scaling_format();

}  // namespace hone
