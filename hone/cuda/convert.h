#pragma once

#include "hone/cuda/launch.h"

namespace hone::cuda {

/// Computes y = x, rounded to another floating-point type of at most 4 bytes, to nearest, ties to even. Both are dense
/// and 16-byte aligned.
void convert(Device& device, std::int64_t count, DType from, const void* x, DType to, void* y);

/// Returns the macro definition for the type of a program's values: "VALUE=bfloat16".
std::string value_definition(DType dtype, std::string_view macro = "VALUE");

/// Returns the number of blocks of `threads` threads for a loop over `count` elements: no more than fill the GPU.
Extent blocks_for(Device& device, std::int64_t count, std::int64_t threads);

}  // namespace hone::cuda
