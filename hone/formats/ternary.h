#pragma once

#include "hone/formats/format.h"

namespace hone {

/// Ternary weight networks (Li et al., 2016): y = alpha sign(x) where |x| > 0.75 mean|x|, else 0, with alpha the mean
/// of those |x|; per row or per tensor, computed from the tensor on every call. Gradients pass straight through. NaN
/// stays NaN, infinities give alpha, the means are over finite values; a row of zeros stays zero. `scale=none`:
/// alpha = 1.
///
/// `scale=learned`: y = alpha clamp(round(x / alpha), -1, 1), where alpha is a state that starts at
/// the value above and is trained (Esser et al., "Learned step size quantization", 2020).
///
/// `mode=mase` is MASE's ternary: a slice of the first axis shares a scale, a NaN or infinity makes the means of its
/// slice NaN or infinite, and a slice without values above the threshold is NaN (0 with `scale=none`). Scales agree
/// within 4 units in the last place, because MASE adds in PyTorch's order.
FormatDef ternary_format();

}  // namespace hone
