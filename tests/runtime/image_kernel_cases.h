#pragma once

#include "tests/runtime/kernel_cases.h"

namespace hone::testing {

/// Those of operations on images, in all types of values.
std::vector<KernelCase> image_kernel_cases();

/// `kernel_cases`, these, and larger ones for convolutions by Winograd's filters, which only CPUs have.
std::vector<KernelCase> all_kernel_cases();

}  // namespace hone::testing
