#pragma once

#include "hone/formats/format.h"
#include "hone/runtime/kernel.h"

namespace hone {

/// The CPU kernels that read packed weights. Those that sum codes instead of values, for which weight and input must have
/// formats that fit each other, are the one place that knows formats by name.
KernelTable packed_kernels();

/// The format of inputs with which products of weights in `weight` are of codes: `int` per token and dynamic for `int`, `mxint` in
/// the same blocks for formats in blocks. Throws `UserError` where there is none.
Format native_input(const Format& weight, const FormatTable& formats);

}  // namespace hone
