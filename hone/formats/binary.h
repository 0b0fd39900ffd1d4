#pragma once

#include "hone/formats/format.h"

namespace hone {

/// XNOR-Net weights (Rastegari et al., 2016): y = alpha sign(x) with alpha = mean|x| of the row,
/// from the row itself on every call; sign(0) = +1. `scale=none`: alpha = 1. Gradients pass where
/// |x| <= 1. NaN stays NaN and the mean is over finite values.
///
/// `mode=mase` is the old binary: +1 where x >= 0, else -1 (NaN gives -1), without a scale. With
/// `scale=row` it is the old one with bipolar=false: alpha where x > 0, else 0, alpha the mean of
/// |x| over a slice of the first axis, NaN and infinities included; the mean agrees within 4 units
/// in the last place, as the old order of addition is PyTorch's own. Gradients pass everywhere.
FormatDef binary_format();

}  // namespace hone
