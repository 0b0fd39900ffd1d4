#pragma once

#include "tests/runtime/kernel_cases.h"

namespace hone::testing {

/// Those of operations on images, which graphics cards have no kernels for.
std::vector<KernelCase> image_kernel_cases();

}  // namespace hone::testing
