#pragma once

#include "hone/runtime/kernel.h"

namespace hone::cuda {

/// Returns the kernels for GPUs: rows for devices of the kind "cuda".
KernelTable kernels();

// The rows of one file each.
KernelTable attention_kernels();
KernelTable convolution_kernels();
KernelTable element_kernels();
KernelTable formula_kernels();
KernelTable gather_kernels();
KernelTable image_kernels();
KernelTable loss_kernels();
KernelTable native_kernels();
KernelTable packed_kernels();
KernelTable product_kernels();
KernelTable quantize_kernels();
KernelTable row_kernels();
KernelTable training_kernels();

}  // namespace hone::cuda
