#pragma once

#include "hone/runtime/kernel.h"

namespace hone {

/// The CPU kernels of values in bfloat16, for mixed precision: products of pairs (kernels/gemm_bf16.h), and what lies between
/// them, piece by piece in floats. What has no row here is widened as a whole (`run_widened`).
KernelTable bf16_kernels();

}  // namespace hone
