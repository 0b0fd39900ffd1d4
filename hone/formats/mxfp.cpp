#include "hone/formats/mxfp.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "hone/base/error.h"
#include "hone/formats/blocks.h"
#include "hone/formats/mode.h"
#include "hone/kernels/scalar/mase_block.h"

namespace hone {
namespace {

constexpr int kScaleBits = 8;
constexpr int kScaleBias = 127;

struct Element {
  int exponent_bits;
  int mantissa_bits;
  double highest;  // in the OCP specification

  int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  int bits() const { return 1 + exponent_bits + mantissa_bits; }
  int highest_exponent() const { return std::ilogb(highest); }
  SmallFloat grid() const { return {exponent_bits, mantissa_bits, 1 - bias(), highest}; }
};

constexpr Element kElements[] = {{4, 3, 448}, {5, 2, 57344}, {3, 2, 28}, {2, 3, 7.5}, {2, 1, 6}};

Element element_of(const Format& format) {
  return kElements[static_cast<std::size_t>(format["element"])];
}

void complete(Format& format) {
  user_check(!is_mase(format) || format.is("scale", "floor"),
             "mode=mase computes its own scale; omit scale=ceil, or use the fixed mode");
}

BlockLayout layout_of(const Format& format, const Sizes& sizes) {
  return is_mase(format) ? flat_block_layout(format, sizes) : block_layout(format, sizes);
}

int fixed_exponent(const Format& format, float largest) {
  const Element element = element_of(format);
  if (largest == 0) return -kScaleBias;
  int k = floor_log2(largest) - element.highest_exponent();
  const bool saturates = std::ldexp(static_cast<double>(largest), -k) > element.highest;
  if (format.is("scale", "ceil") && saturates) ++k;
  // Above that, the largest element times X is not a float.
  return std::clamp(k, -kScaleBias, 127 - element.highest_exponent());
}

// Codes above the largest number are an infinity in e5m2, else NaN. They are never written, but can be read.
double value_of(const Element& element, std::uint32_t code) {
  const double value = small_float_value(element.grid(), code);
  if (std::fabs(value) <= element.highest) return value;
  const bool infinite = element.exponent_bits == 5 && std::fabs(value) == 65536;
  return infinite ? std::copysign(INFINITY, value) : NAN;
}

BlockCoding fixed_coding(const Format& format) {
  const Element element = element_of(format);
  return {element.bits(),
          kScaleBits,
          kScaleBias,
          true,
          [format](float largest) { return fixed_exponent(format, largest); },
          [=](double relative, int) { return small_float_code(element.grid(), relative); },
          [=](std::uint32_t code) { return value_of(element, code); }};
}

scalar::MxfpElement to_mxfp_element(const Element& element) {
  return {element.exponent_bits, element.mantissa_bits, element.highest};
}

BlockCoding mase_coding(const Format& format) {
  const Element element = element_of(format);
  return {
      element.bits(),
      kScaleBits,
      kScaleBias,
      true,
      [=](float largest) { return scalar::MaseMxfp{to_mxfp_element(element)}.exponent(largest); },
      [=](double relative, int k) {
        const scalar::MaseMxfpElements elements{to_mxfp_element(element), k};
        return with_sign(elements.code(std::fabs(relative)), relative, element.bits() - 1);
      },
      [=](std::uint32_t code) { return small_float_value(element.grid(), code); }};
}

BlockCoding coding_of(const Format& format) {
  return is_mase(format) ? mase_coding(format) : fixed_coding(format);
}

using Blocks = CodedBlocks<layout_of, coding_of>;

void quantize(const QuantizerInput& input, ThreadPool& pool, std::span<float> y) {
  if (is_mase(input.format)) return Blocks::quantize_by_definition(input, pool, y);
  const Element element = element_of(input.format);
  const BlockLayout layout = layout_of(input.format, input.sizes);
  const auto highest = static_cast<float>(element.highest);
  const int top = element.highest_exponent();
  kernels::BlockScale scale{-top, -kScaleBias, 127 - top};
  if (input.format.is("scale", "ceil"))
    scale.next_from = (std::bit_cast<std::uint32_t>(highest) & 0x7fffffu) + 1;
  const kernels::Minifloat elements{element.mantissa_bits, 1 - element.bias(), highest};
  with_axis_last(layout, pool, input.x, y, [&](const float* from, float* to) {
    kernels::round_blocks_to_minifloats(pool, layout.grid, scale, elements, from, to);
  });
}

}  // namespace

FormatDef mxfp_format() {
  return {
      .name = "mxfp",
      .summary = "small floats with a power-of-two scale per block (OCP MX)",
      .source = "OCP Microscaling Formats (MX) Specification 1.0, 2023",
      .parameters = {{.name = "element",
                      .summary = "exponent and mantissa bits of an element",
                      .words = {"e4m3", "e5m2", "e3m2", "e2m3", "e2m1"},
                      .spelled = true},
                     block_parameter(32),
                     {"scale",
                      "of the block's largest magnitude: from its power of two, or the smallest "
                      "without saturation",
                      0,
                      0,
                      0,
                      {"floor", "ceil"}},
                     axis_parameter(),
                     mode_parameter()},
      .complete = complete,
      .layout = Blocks::layout,
      .fields = [](const Format& format) -> std::vector<CodeField> {
        const Element element = element_of(format);
        return {{"sign", 1},
                {"exponent", element.exponent_bits, element.bias()},
                {"fraction", element.mantissa_bits}};
      },
      .quantize_reference = Blocks::quantize_reference,
      .quantize = quantize,
      .locality = locality_of_blocks,
      .encode = Blocks::encode,
      .decode = Blocks::decode,
      .units = Blocks::units};
}

}  // namespace hone
