#pragma once

#include "hone/formats/format.h"

namespace hone {

/// XNOR-Net weights (Rastegari et al., 2016): y = alpha sign(x) with alpha = mean|x| of the row, computed from the row
/// on every call; sign(0) = +1. `scale=none`: alpha = 1. Gradients pass where |x| <= 1. NaN stays NaN, and the mean is
/// over finite values.
///
/// `mode=mase` is MASE's binary: +1 where x >= 0, else -1 (NaN gives -1), without a scale. With `scale=row` it is the
/// one with bipolar=false: alpha where x > 0, else 0, with alpha the mean of |x| over a slice of the first axis,
/// including NaN and infinities. The mean agrees within 4 units in the last place, because MASE adds in PyTorch's
/// order. Gradients pass everywhere.
FormatDef binary_format();

}  // namespace hone
