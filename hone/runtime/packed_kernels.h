#pragma once

#include "hone/runtime/kernel.h"

/// CPU kernels that read packed weights.
namespace hone {

/// Products of floats with packed weights: `packed_linear`.
KernelTable packed_linear_kernels();
/// Rows of packed tables: `packed_embedding` and `packed_rows`.
KernelTable packed_table_kernels();
/// Products of codes with codes, and the encoder of their inputs: `native_linear`, `native_linear_codes` and
/// `encode_rows`.
KernelTable native_kernels();

}  // namespace hone
