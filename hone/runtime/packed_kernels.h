#pragma once

#include "hone/runtime/kernel.h"

namespace hone {

/// The CPU kernels that read packed weights. Those that sum codes instead of values, for which weight and input must have
/// formats that fit each other, are the one place that knows formats by name.
KernelTable packed_kernels();

}  // namespace hone
