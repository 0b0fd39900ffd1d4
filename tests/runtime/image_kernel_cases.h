#pragma once

#include "tests/runtime/kernel_cases.h"

namespace hone::testing {

/// Returns the cases of image operations, in all value types.
std::vector<KernelCase> image_kernel_cases();

/// Returns `kernel_cases`, the image cases, and larger ones for Winograd convolutions, which only CPUs have.
std::vector<KernelCase> all_kernel_cases();

}  // namespace hone::testing
