#pragma once

#include "hone/formats/format.h"

namespace hone {

/// ReBNet activations (Ghasemzadeh et al., 2018): y = sum of mu_l sign(r_l) over `levels`, with r_0 = x,
/// r_{l+1} = r_l - mu_l sign(r_l) and sign(0) = +1. The means are a state that starts at the observed mean|r_l| and is
/// fixed or learned. NaN stays NaN.
///
/// Gradients pass where |x| <= max(1, sum of |mu_l|); a learned mean gets the sum of dy sign(r_l)
/// divided by sqrt(elements).
///
/// `mode=mase` is MASE's residual sign: the means are fixed at (levels - l) / (1 + 2 + …), and sign is 0 at 0 and NaN,
/// so some results have no code. Its gradient is that of MASE's chain of signs, each of which passes it where
/// |r_l| <= 1: dx = dy (1 - product of (1 - mu_l [|r_l| <= 1])).
FormatDef binary_residual_sign_format();

}  // namespace hone
