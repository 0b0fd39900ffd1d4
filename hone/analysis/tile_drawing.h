#pragma once

#include <string>

#include "hone/analysis/decode_tiles.h"
#include "hone/kernels/dequantize.h"

namespace hone {

/// How mase-cuda cuts the decoding of an array, and how ours does, beside each other in Graphviz's language (see `write_dot`):
/// the tiles of the grid, the threads of the first of them and of the last where some have nothing to do; chunks of threads,
/// and the vectors of the first with the scales they take. What repeats is left out for "…".
std::string draw_tiles(const DecodeTiling& tiling, const kernels::DequantizePartition& ours);

}  // namespace hone
