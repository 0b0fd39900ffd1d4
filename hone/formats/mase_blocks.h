#pragma once

#include "hone/formats/blocks.h"
#include "hone/formats/mode.h"

/// The block formats of the Python project MASE, bit for bit: `mode=mase` of block_fp, block_log and block_minifloat.
namespace hone {

/// The rounding of one of these formats. All numbers are floats, as in MASE's tensors, so NaN propagates.
struct MaseBlocks {
  int element_bits = 0;
  int shared_bits = 0;
  int shared_bias = 0;  ///< the shared code is the shared number + shared_bias
  /// Returns the integer that a block shares, from its largest magnitude.
  std::function<float(float largest)> shared;
  std::function<float(float shared, float x)> round;
  /// Converts a result of `round` to its code, and back. A value without a code comes back as another number.
  std::function<std::uint32_t(float shared, float y)> code;
  std::function<float(float shared, std::uint32_t)> value;
};

/// A largest magnitude of 0 counts as the smallest nonzero one of the tensor, or as 1 if all are 0.
void quantize_mase_blocks(const BlockLayout& layout, const MaseBlocks& blocks, ThreadPool& pool,
                          std::span<const float> x, std::span<float> y);
/// Throws `UserError` for values that pass unquantized and so have no code.
Codes encode_mase_blocks(const Format& format, const BlockLayout& layout, const MaseBlocks& blocks,
                         std::span<const float> x);
void decode_mase_blocks(const BlockLayout& layout, const MaseBlocks& blocks, const Codes& codes,
                        std::span<float> y);

/// The functions of the record of a format with blocks of `rows` x `block`: by its coding, or by MASE's arithmetic in
/// mode=mase.
template <BlockCoding (*kCoding)(const Format&), MaseBlocks (*kMase)(const Format&)>
struct TwoModes {
  static BlockLayout blocks_of(const Format& format, const Sizes& sizes) {
    return block_layout(format, sizes, format["rows"]);
  }
  using Fixed = CodedBlocks<blocks_of, kCoding>;

  static void quantize_by_definition(const QuantizerInput& input, ThreadPool& pool,
                                     std::span<float> y) {
    if (!is_mase(input.format)) return Fixed::quantize_by_definition(input, pool, y);
    quantize_mase_blocks(blocks_of(input.format, input.sizes), kMase(input.format), pool, input.x,
                         y);
  }
  static void quantize_reference(const QuantizerInput& input, std::span<float> y) {
    ThreadPool alone(1);
    quantize_by_definition(input, alone, y);
  }
  static Codes encode(const QuantizerInput& input) {
    if (!is_mase(input.format)) return Fixed::encode(input);
    return encode_mase_blocks(input.format, blocks_of(input.format, input.sizes),
                              kMase(input.format), input.x);
  }
  static void decode(const QuantizerInput& input, const Codes& codes, std::span<float> y) {
    if (!is_mase(input.format)) return Fixed::decode(input, codes, y);
    decode_mase_blocks(blocks_of(input.format, input.sizes), kMase(input.format), codes, y);
  }
  static std::optional<CodeUnits> units(const QuantizerInput& input) {
    return is_mase(input.format) ? std::nullopt : Fixed::units(input);
  }
};

}  // namespace hone
