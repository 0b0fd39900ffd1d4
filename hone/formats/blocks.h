#pragma once

#include <functional>

#include "hone/formats/format.h"
#include "hone/formats/range_objection.h"
#include "hone/kernels/block.h"

/// Shared code of formats with a scale per block: the positions of a tensor's blocks, and block codings that define
/// reference, encoder and decoder.
namespace hone {

/// The parameters of formats whose blocks are runs of values along an axis.
FormatParameterDef block_parameter(std::int64_t default_size);
FormatParameterDef rows_parameter();
FormatParameterDef axis_parameter();

/// The positions of a tensor's blocks. The tensor is treated as matrices of its last two dimensions, after the block
/// axis has been moved last.
struct BlockLayout {
  kernels::BlockGrid grid;
  std::int64_t extent = 1;  ///< of the block axis
  std::int64_t distance =
      1;  ///< between neighbours along the block axis, in elements of the tensor

  std::int64_t blocks() const { return elements() == 0 ? 0 : grid.blocks(); }
  std::int64_t elements() const { return grid.matrices * grid.rows * grid.columns; }
  /// Returns the offset in the tensor of element `index` of the tensor with the block axis last.
  std::int64_t offset(std::int64_t index) const {
    const std::int64_t line = index / extent;
    const std::int64_t before = line / distance * extent + index % extent;
    return before * distance + line % distance;
  }
};

/// Returns blocks of `block` values along `axis` (format parameters) and `rows` along the dimension before it. No block
/// crosses the end of its row. Throws `UserError` for an axis that the tensor does not have.
BlockLayout block_layout(const Format& format, const Sizes& sizes, std::int64_t rows = 1);
/// Returns runs of `block` values of the flattened tensor, with `axis` last. Throws `UserError` if they do not divide
/// the tensor.
BlockLayout flat_block_layout(const Format& format, const Sizes& sizes);

/// `FormatDef::locality` of formats with such blocks: a row if blocks run along the last axis and none spans several
/// rows.
Locality locality_of_blocks(const Format& format, std::int64_t rank);

/// Calls body(block, offsets of its values) for all blocks, in order or in parallel.
using BlockBody = FunctionRef<void(std::int64_t, std::span<const std::int64_t>)>;
void for_each_block(const BlockLayout& layout, BlockBody body);
void for_each_block(const BlockLayout& layout, ThreadPool& pool, BlockBody body);

/// Returns the largest magnitude of x at these offsets, NaN if any of them is NaN.
float largest_magnitude(std::span<const float> x, std::span<const std::int64_t> offsets);

/// Calls round(from, to) with the values of x, with the block axis last, and copies the result to y. If that axis
/// already is the last one, nothing is copied.
void with_axis_last(const BlockLayout& layout, ThreadPool& pool, std::span<const float> x,
                    std::span<float> y, FunctionRef<void(const float*, float*)> round);

/// The coding of a block: a shared exponent k and a code per value.
struct BlockCoding {
  int element_bits = 0;
  int shared_bits = 0;
  int shared_bias = 0;  ///< the shared code is k + shared_bias
  /// Whether the shared code of all ones means a NaN block.
  bool has_nan = false;
  /// Returns k for the largest magnitude of the block, which is finite.
  std::function<int(float largest)> exponent;
  /// Returns the code of the number nearest to relative = x / 2^k.
  std::function<std::uint32_t(double relative, int k)> code;
  std::function<double(std::uint32_t)> value;
};

/// Returns the bits of all codes of a tensor.
CodeLayout code_layout(const BlockLayout& layout, const BlockCoding& coding);

/// y = 2^k value(code(x / 2^k, k)); blocks with a NaN or an infinity become NaN.
void quantize_by_coding(const BlockLayout& layout, const BlockCoding& coding, ThreadPool& pool,
                        std::span<const float> x, std::span<float> y);
/// Throws `UserError` for NaN and infinities if NaN blocks have no code.
Codes encode_by_coding(const Format& format, const BlockLayout& layout, const BlockCoding& coding,
                       std::span<const float> x);
void decode_by_coding(const BlockLayout& layout, const BlockCoding& coding, const Codes& codes,
                      std::span<float> y);

/// `FormatDef::units` of blocks within rows along the last axis.
std::optional<CodeUnits> units_by_coding(const BlockLayout& layout, const BlockCoding& coding);

/// The functions of a format's record, derived from its block layout and coding.
template <BlockLayout (*kLayout)(const Format&, const Sizes&),
          BlockCoding (*kCoding)(const Format&)>
struct CodedBlocks {
  static CodeLayout layout(const Format& format, const Sizes& sizes) {
    return code_layout(kLayout(format, sizes), kCoding(format));
  }
  static void quantize_by_definition(const QuantizerInput& input, ThreadPool& pool,
                                     std::span<float> y) {
    quantize_by_coding(kLayout(input.format, input.sizes), kCoding(input.format), pool, input.x, y);
  }
  static void quantize_reference(const QuantizerInput& input, std::span<float> y) {
    ThreadPool alone(1);
    quantize_by_definition(input, alone, y);
  }
  static Codes encode(const QuantizerInput& input) {
    return encode_by_coding(input.format, kLayout(input.format, input.sizes), kCoding(input.format),
                            input.x);
  }
  static void decode(const QuantizerInput& input, const Codes& codes, std::span<float> y) {
    decode_by_coding(kLayout(input.format, input.sizes), kCoding(input.format), codes, y);
  }
  static std::optional<CodeUnits> units(const QuantizerInput& input) {
    return units_by_coding(kLayout(input.format, input.sizes), kCoding(input.format));
  }
};

/// For `FormatDef::objection`: explains why a parameter is unsuitable, which means that the median magnitude is outside
/// the range of the elements. Returns "" if it is inside, or if half of all values are zero. The text contains
/// `parameter` ("exponent_bias_width=2") and `better` ("exponent_bias_width=8").
std::string block_objection(const Observation& seen, const MagnitudeRange& range,
                            std::string_view parameter, std::string_view better);

/// Small floats without infinities and NaN: sign, exponent field, mantissa field. Field 0 holds zero and the
/// subnormals.
struct SmallFloat {
  int exponent_bits = 0;
  int mantissa_bits = 0;
  int min_exponent = 0;  ///< of the smallest normal number
  double highest = 0;    ///< the largest magnitude in use
};

/// Returns the code of the nearest number, ties to even. Magnitudes above the highest saturate.
std::uint32_t small_float_code(const SmallFloat& format, double x);
double small_float_value(const SmallFloat& format, std::uint32_t code);

/// Puts the sign of x above `bits` bits of magnitude, and reads it back.
std::uint32_t with_sign(std::uint32_t magnitude, double x, int bits);
double signed_by_code(double magnitude, std::uint32_t code, int bits);

}  // namespace hone
