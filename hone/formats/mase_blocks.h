#pragma once

#include "hone/formats/blocks.h"

/// The block formats of the Python project MASE, bit for bit: what `mode=mase` of block_fp,
/// block_log and block_minifloat means.
namespace hone {

/// How one of them rounds. Floats throughout, as in its tensors: NaN goes its way.
struct MaseBlocks {
  int element_bits = 0;
  int shared_bits = 0;
  int shared_bias = 0;  ///< the shared code is the shared number + shared_bias
  /// The whole number that a block shares, from its largest magnitude.
  std::function<float(float largest)> shared;
  std::function<float(float shared, float x)> round;
  /// The code of a number that `round` gives, and back; another number when it has no code.
  std::function<std::uint32_t(float shared, float y)> code;
  std::function<float(float shared, std::uint32_t)> value;
};

/// Largest magnitudes of 0 count as the smallest other one of the tensor, or as 1 when all are 0.
void quantize_mase_blocks(const BlockLayout& layout, const MaseBlocks& blocks, ThreadPool& pool,
                          std::span<const float> x, std::span<float> y);
/// Throws `UserError` for values that pass unquantized and so have no code.
Codes encode_mase_blocks(const Format& format, const BlockLayout& layout, const MaseBlocks& blocks,
                         std::span<const float> x);
void decode_mase_blocks(const BlockLayout& layout, const MaseBlocks& blocks, const Codes& codes,
                        std::span<float> y);

/// log2 of a float, computed as a float.
float mase_log2(float x);

}  // namespace hone
