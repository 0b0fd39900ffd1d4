#pragma once

#include "hone/formats/format.h"

namespace hone {

/// y = alpha sign(x) with sign(0) = +1, for activations and weights. Alpha is a state, per tensor or per row, that
/// starts at the observed mean|x| and is fixed or learned. NaN stays NaN.
///
/// Gradients pass where |x| <= max(1, |alpha|): the clip of the usual straight-through estimator,
/// wide enough for the format's own values. A learned alpha gets the sum of dy sign(x) divided by
/// sqrt(elements) (Esser et al., "Learned step size quantization", 2020).
FormatDef binary_scaling_format();

}  // namespace hone
