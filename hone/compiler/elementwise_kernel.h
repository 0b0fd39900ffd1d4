#pragma once

#include "hone/runtime/kernel.h"

namespace hone::compiler {

/// `elementwise` on the processor, by code that is generated for its formulas (generated_code.h).
Kernel elementwise_kernel();

}  // namespace hone::compiler
