#pragma once

#include "tests/runtime/kernel_cases.h"

namespace hone::testing {

/// Those of operations on images, which GPUs have no kernels for.
std::vector<KernelCase> image_kernel_cases();

/// `kernel_cases` and these.
std::vector<KernelCase> all_kernel_cases();

}  // namespace hone::testing
