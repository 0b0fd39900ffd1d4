#pragma once

#include <string>

#include "hone/analysis/decode_tiles.h"
#include "hone/kernels/dequantize.h"

namespace hone {

/// Draws how mase-cuda and hone divide the decoding of an array, side by side, in Graphviz's language (see
/// `write_dot`). Shows the tiles of the grid, the threads of the first tile, and of the last if some of its threads are
/// idle; and hone's chunks of threads, and the vectors of the first chunk with their scales. "…" replaces repetition.
std::string draw_tiles(const DecodeTiling& tiling, const kernels::DequantizePartition& ours);

}  // namespace hone
