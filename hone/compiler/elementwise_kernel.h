#pragma once

#include "hone/runtime/kernel.h"

namespace hone::compiler {

/// Returns the CPU kernel of `elementwise`, which generates code for its formulas (generated_code.h).
Kernel elementwise_kernel();

}  // namespace hone::compiler
