#pragma once

#include "hone/cuda/launch.h"

namespace hone::cuda {

/// y = x as numbers of another floating-point type of at most 4 bytes, to nearest, ties to even. Both dense, 16-byte aligned.
void convert(Device& device, std::int64_t count, DType from, const void* x, DType to, void* y);

/// The macro by which a program is told the type of its values: "VALUE=bfloat16".
std::string value_definition(DType dtype, std::string_view macro = "VALUE");

/// As many blocks of so many threads as fill the GPU, for loops over `count` elements.
Extent blocks_for(Device& device, std::int64_t count, std::int64_t threads);

}  // namespace hone::cuda
