#pragma once

#include <functional>

#include "hone/formats/format.h"
#include "hone/formats/range_objection.h"
#include "hone/kernels/block.h"

/// What formats with a scale per block share: where the blocks of a tensor lie, and a coding of
/// blocks from which reference, encoder and decoder follow.
namespace hone {

/// The parameters of formats whose blocks are runs of values along an axis.
FormatParameterDef block_parameter(std::int64_t default_size);
FormatParameterDef rows_parameter();
FormatParameterDef axis_parameter();

/// Where the blocks of a tensor lie: the tensor is seen with the axis of the blocks last, and as
/// matrices of its last two dimensions.
struct BlockLayout {
  kernels::BlockGrid grid;
  std::int64_t extent = 1;    ///< of the axis of the blocks
  std::int64_t distance = 1;  ///< between neighbours along it, in elements of the tensor

  std::int64_t blocks() const { return elements() == 0 ? 0 : grid.blocks(); }
  std::int64_t elements() const { return grid.matrices * grid.rows * grid.columns; }
  /// Where element `index` of the tensor with that axis last lies in the tensor.
  std::int64_t offset(std::int64_t index) const {
    const std::int64_t line = index / extent;
    const std::int64_t before = line / distance * extent + index % extent;
    return before * distance + line % distance;
  }
};

/// Blocks of `block` values along `axis` (parameters of the format) and `rows` along the dimension
/// before it; none reaches beyond its row. Throws `UserError` for an axis the tensor does not have.
BlockLayout block_layout(const Format& format, const Sizes& sizes, std::int64_t rows = 1);
/// Runs of `block` values of the tensor as one row, with `axis` last, whatever its dimensions.
/// Throws `UserError` when they do not divide the tensor.
BlockLayout flat_block_layout(const Format& format, const Sizes& sizes);

/// `FormatDef::locality` of formats with such blocks: a row where they lie along the last axis and none has values of
/// several rows.
Locality locality_of_blocks(const Format& format, std::int64_t rank);

/// Calls body(block, offsets of its values) for all blocks, in order or side by side.
using BlockBody = FunctionRef<void(std::int64_t, std::span<const std::int64_t>)>;
void for_each_block(const BlockLayout& layout, BlockBody body);
void for_each_block(const BlockLayout& layout, ThreadPool& pool, BlockBody body);

/// The largest magnitude of x at these offsets; NaN when there is one among them.
float largest_magnitude(std::span<const float> x, std::span<const std::int64_t> offsets);

/// Calls round(from, to) with the values of x, the axis of the blocks last, and copies the result
/// to y. Without copies where that axis is the last one.
void with_axis_last(const BlockLayout& layout, ThreadPool& pool, std::span<const float> x,
                    std::span<float> y, FunctionRef<void(const float*, float*)> round);

/// How a format codes a block: an exponent k for all of it and a code for every value.
struct BlockCoding {
  int element_bits = 0;
  int shared_bits = 0;
  int shared_bias = 0;  ///< the shared code is k + shared_bias
  /// The shared code of all ones stands for a block of NaN.
  bool has_nan = false;
  /// k for the largest magnitude of the block, which is finite.
  std::function<int(float largest)> exponent;
  /// The code of the number nearest to relative = x / 2^k.
  std::function<std::uint32_t(double relative, int k)> code;
  std::function<double(std::uint32_t)> value;
};

/// The bits of all codes of a tensor.
CodeLayout code_layout(const BlockLayout& layout, const BlockCoding& coding);

/// y = 2^k value(code(x / 2^k, k)); blocks with a NaN or an infinity become NaN.
void quantize_by_coding(const BlockLayout& layout, const BlockCoding& coding, ThreadPool& pool,
                        std::span<const float> x, std::span<float> y);
/// Throws `UserError` for NaN and infinities when blocks of NaN have no code.
Codes encode_by_coding(const Format& format, const BlockLayout& layout, const BlockCoding& coding,
                       std::span<const float> x);
void decode_by_coding(const BlockLayout& layout, const BlockCoding& coding, const Codes& codes,
                      std::span<float> y);

/// `FormatDef::units` of blocks that lie within rows along the last axis.
std::optional<CodeUnits> units_by_coding(const BlockLayout& layout, const BlockCoding& coding);

/// The functions of a format's record that follow from where its blocks lie and how they are coded.
template <BlockLayout (*kLayout)(const Format&, const Sizes&),
          BlockCoding (*kCoding)(const Format&)>
struct CodedBlocks {
  static CodeLayout layout(const Format& format, const Sizes& sizes) {
    return code_layout(kLayout(format, sizes), kCoding(format));
  }
  static void quantize_slowly(const QuantizerInput& input, ThreadPool& pool, std::span<float> y) {
    quantize_by_coding(kLayout(input.format, input.sizes), kCoding(input.format), pool, input.x, y);
  }
  static void quantize_reference(const QuantizerInput& input, std::span<float> y) {
    ThreadPool alone(1);
    quantize_slowly(input, alone, y);
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

/// For `FormatDef::objection`: why a parameter is hopeless, that is, the median magnitude lies
/// outside what the elements can stand for; "" when it does not, or when half of all values are
/// zero. `parameter` ("exponent_bias_width=2") and `better` ("exponent_bias_width=8") go into the
/// text.
std::string block_objection(const Observation& seen, const MagnitudeRange& range,
                            std::string_view parameter, std::string_view better);

/// Small floats without infinities and NaN: sign, exponent field, mantissa field; field 0 holds
/// zero and the subnormals.
struct SmallFloat {
  int exponent_bits = 0;
  int mantissa_bits = 0;
  int min_exponent = 0;  ///< of the smallest normal number
  double highest = 0;    ///< the largest magnitude in use
};

/// The code of the nearest number, ties to even; magnitudes above the highest saturate.
std::uint32_t small_float_code(const SmallFloat& format, double x);
double small_float_value(const SmallFloat& format, std::uint32_t code);

/// The code with the sign of x above `bits` bits of magnitude, and back.
std::uint32_t with_sign(std::uint32_t magnitude, double x, int bits);
double signed_by_code(double magnitude, std::uint32_t code, int bits);

}  // namespace hone
