#include "hone/formats/block_minifloat.h"

#include <algorithm>
#include <cmath>

#include "hone/base/error.h"
#include "hone/formats/blocks.h"
#include "hone/formats/mase_blocks.h"
#include "hone/formats/mode.h"
#include "hone/kernels/scalar/mase_block.h"

namespace hone {
namespace {

struct CodeFields {
  int width;
  int exponent_width;
  int bias_width;
  int mantissa;

  explicit CodeFields(const Format& format)
      : width(static_cast<int>(format["width"])),
        exponent_width(static_cast<int>(format["exponent_width"])),
        bias_width(static_cast<int>(format["exponent_bias_width"])),
        mantissa(width - exponent_width - 1) {}

  int highest_field() const { return (1 << exponent_width) - 1; }
  // The bounds of the exponent t of the topmost binade. Floats have no exponent above 127.
  int lowest_top() const { return -(1 << (bias_width - 1)); }
  int highest_top() const { return std::min(-1 - lowest_top(), 127); }
  float highest_bias_of_mase() const { return static_cast<float>((1 << bias_width) - 1); }
  // The elements, relative to 2^t.
  SmallFloat elements() const {
    return {exponent_width, mantissa, 1 - highest_field(), 2 - std::ldexp(1.0, -mantissa)};
  }
  SmallFloat elements_of_mase(float bias) const {
    const int b = static_cast<int>(bias);
    const double highest = std::ldexp(2 - std::ldexp(1.0, -mantissa), highest_field() - b);
    return {exponent_width, mantissa, 1 - b, highest};
  }
};

void complete(Format& format) {
  const CodeFields fields(format);
  user_check(fields.mantissa >= 0,
             "width={} is too small for a sign and exponent_width={}; make it at least {}",
             fields.width, fields.exponent_width, fields.exponent_width + 1);
  user_check(fields.mantissa <= 23,
             "{} mantissa bits are more than a float has; make width at most {}", fields.mantissa,
             fields.exponent_width + 24);
}

BlockCoding fixed_coding(const Format& format) {
  const CodeFields fields(format);
  return {fields.width,
          fields.bias_width,
          -fields.lowest_top(),
          false,
          [=](float largest) {
            return largest == 0
                       ? fields.lowest_top()
                       : std::clamp(floor_log2(largest), fields.lowest_top(), fields.highest_top());
          },
          [=](double relative, int) { return small_float_code(fields.elements(), relative); },
          [=](std::uint32_t code) { return small_float_value(fields.elements(), code); }};
}

scalar::MaseBlockMinifloat mase_rule(const CodeFields& fields) {
  return {fields.exponent_width, fields.mantissa, fields.highest_bias_of_mase()};
}

float mase_bias(const CodeFields& fields, float largest) {
  return mase_rule(fields).shared(largest);
}

MaseBlocks mase_blocks(const Format& format) {
  const CodeFields fields(format);
  return {fields.width,
          fields.bias_width,
          0,
          [=](float largest) { return mase_bias(fields, largest); },
          [=](float bias, float x) {
            if (std::isnan(bias)) return bias;
            return mase_rule(fields).with_bias(bias)(x);
          },
          [=](float bias, float y) { return small_float_code(fields.elements_of_mase(bias), y); },
          [=](float bias, std::uint32_t code) {
            return static_cast<float>(small_float_value(fields.elements_of_mase(bias), code));
          }};
}

// Considers blocks as large as the tensor, because smaller ones have no elements nearer to the median.
std::string objection(const Format& format, const Observation& seen) {
  if (seen.magnitude() == 0) return "";
  const CodeFields fields(format);
  const int top =
      is_mase(format)
          ? fields.highest_field() - static_cast<int>(mase_bias(fields, seen.magnitude()))
          : std::clamp(floor_log2(seen.magnitude()), fields.lowest_top(), fields.highest_top());
  const int lowest_step = top + fields.elements().min_exponent - fields.mantissa;
  return block_objection(
      seen, {std::ldexp(1.0, lowest_step), std::ldexp(fields.elements().highest, top)},
      is_mase(format) ? "mode=mase" : fmt::format("exponent_bias_width={}", fields.bias_width),
      is_mase(format) ? "mode=fixed" : "exponent_bias_width=8 or a larger exponent_width");
}

using Blocks = TwoModes<fixed_coding, mase_blocks>;

void quantize(const QuantizerInput& input, ThreadPool& pool, std::span<float> y) {
  const CodeFields fields(input.format);
  if (is_mase(input.format)) return Blocks::quantize_by_definition(input, pool, y);
  const BlockLayout layout = Blocks::blocks_of(input.format, input.sizes);
  const SmallFloat grid = fields.elements();
  const kernels::BlockScale scale{0, fields.lowest_top(), fields.highest_top()};
  const kernels::Minifloat elements{grid.mantissa_bits, grid.min_exponent,
                                    static_cast<float>(grid.highest)};
  with_axis_last(layout, pool, input.x, y, [&](const float* from, float* to) {
    kernels::round_blocks_to_minifloats(pool, layout.grid, scale, elements, from, to);
  });
}

}  // namespace

FormatDef block_minifloat_format() {
  return {
      .name = "block_minifloat",
      .summary = "small floats with an exponent bias per block",
      .source = "Fox et al., A Block Minifloat Representation, ICLR 2021",
      .parameters = {{"width", "bits of a value", 2, 32, 8},
                     {"exponent_width", "bits of the exponent of a value", 1, 8, 4},
                     {"exponent_bias_width", "bits of the exponent bias of a block", 1, 8, 8},
                     block_parameter(16),
                     rows_parameter(),
                     axis_parameter(),
                     mode_parameter()},
      .complete = complete,
      .layout = Blocks::Fixed::layout,
      .fields = [](const Format& format) -> std::vector<CodeField> {
        const CodeFields fields(format);
        return {{"sign", 1}, {"exponent", fields.exponent_width}, {"fraction", fields.mantissa}};
      },
      .objection = objection,
      .quantize_reference = Blocks::quantize_reference,
      .quantize = quantize,
      .locality = locality_of_blocks,
      .encode = Blocks::encode,
      .decode = Blocks::decode,
      .units = Blocks::units};
}

}  // namespace hone
