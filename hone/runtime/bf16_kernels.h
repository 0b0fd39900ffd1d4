#pragma once

#include "hone/runtime/kernel.h"

namespace hone {

/// CPU kernels for bfloat16 values in mixed precision: products of bf16 pairs (kernels/gemm_bf16.h), and the
/// operations between products, computed in floats a piece at a time. Operations without a row here are widened as a
/// whole (`run_widened`).
KernelTable bf16_kernels();

}  // namespace hone
