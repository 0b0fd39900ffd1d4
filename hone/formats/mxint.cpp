#include "hone/formats/mxint.h"

#include <algorithm>
#include <cmath>

#include "hone/base/error.h"
#include "hone/formats/blocks.h"
#include "hone/formats/codes.h"
#include "hone/formats/mode.h"
#include "hone/kernels/scalar/mase_block.h"

namespace hone {
namespace {

constexpr int kScaleBits = 8;
constexpr int kScaleBias = 127;

int bits_of(const Format& format) { return static_cast<int>(format["bits"]); }

void complete(Format& format) {
  user_check(!is_mase(format) || format.is("scale", "floor"),
             "mode=mase computes its own scale; omit scale=ceil, or use the fixed mode");
}

BlockLayout layout_of(const Format& format, const Sizes& sizes) {
  return is_mase(format) ? flat_block_layout(format, sizes) : block_layout(format, sizes);
}

// Returns the largest element, relative to the scale.
double highest(int bits) { return 2 - std::ldexp(1.0, 2 - bits); }

int fixed_exponent(const Format& format, float largest) {
  if (largest == 0) return -kScaleBias;
  int k = floor_log2(largest);
  const double fraction = std::ldexp(static_cast<double>(largest), -k);
  if (format.is("scale", "ceil") && fraction > highest(bits_of(format))) ++k;
  return std::clamp(k, -kScaleBias, 127);
}

BlockCoding fixed_coding(const Format& format) {
  const int bits = bits_of(format);
  const double limit = std::ldexp(1.0, bits - 1) - 1;
  return {bits,
          kScaleBits,
          kScaleBias,
          true,
          [format](float largest) { return fixed_exponent(format, largest); },
          [=](double relative, int) {
            const double whole = std::nearbyint(std::ldexp(relative, bits - 2));
            return signed_code(static_cast<std::int64_t>(std::clamp(whole, -limit, limit)), bits);
          },
          [=](std::uint32_t code) {
            return std::ldexp(static_cast<double>(signed_value(code, bits)), 2 - bits);
          }};
}

BlockCoding mase_coding(const Format& format) {
  const int bits = bits_of(format);
  const double limit = std::ldexp(1.0, bits - 1);
  return {
      bits,
      kScaleBits,
      kScaleBias,
      true,
      [=](float largest) { return scalar::MaseMxint{limit}.exponent(largest); },
      [=](double relative, int) {
        const double whole = scalar::MaseMxintElements::whole(limit, relative);
        return signed_code(static_cast<std::int64_t>(whole), bits);
      },
      [=](std::uint32_t code) { return static_cast<double>(signed_value(code, bits)) / limit; }};
}

BlockCoding coding_of(const Format& format) {
  return is_mase(format) ? mase_coding(format) : fixed_coding(format);
}

using Blocks = CodedBlocks<layout_of, coding_of>;

void quantize(const QuantizerInput& input, ThreadPool& pool, std::span<float> y) {
  if (is_mase(input.format)) return Blocks::quantize_by_definition(input, pool, y);
  const int bits = bits_of(input.format);
  const BlockLayout layout = layout_of(input.format, input.sizes);
  kernels::BlockScale scale{0, -kScaleBias, 127};
  if (input.format.is("scale", "ceil")) scale.next_from = (1u << 23) - (1u << (25 - bits)) + 1;
  // A float with bits - 2 mantissa bits has this format's step between 1 and 2, and keeps it below 1.
  const kernels::Minifloat elements{bits - 2, 0, static_cast<float>(highest(bits))};
  with_axis_last(layout, pool, input.x, y, [&](const float* from, float* to) {
    kernels::round_blocks_to_minifloats(pool, layout.grid, scale, elements, from, to);
  });
}

}  // namespace

FormatDef mxint_format() {
  return {
      .name = "mxint",
      .summary = "integers with a power-of-two scale per block (OCP MX)",
      .source = "OCP Microscaling Formats (MX) Specification 1.0, 2023",
      .parameters = {{"bits", "bits of an element", 2, 24, 8},
                     block_parameter(32),
                     {"scale",
                      "of the block's largest magnitude: its power of two, or the smallest without "
                      "saturation",
                      0,
                      0,
                      0,
                      {"floor", "ceil"}},
                     axis_parameter(),
                     mode_parameter()},
      .complete = complete,
      .layout =
          [](const Format& format, const Sizes& sizes) {
            CodeLayout layout = Blocks::layout(format, sizes);
            layout.twos_complement = true;
            return layout;
          },
      .fields = [](const Format& format) -> std::vector<CodeField> {
        return {{"integer", static_cast<int>(format["bits"])}};
      },
      .quantize_reference = Blocks::quantize_reference,
      .quantize = quantize,
      .locality = locality_of_blocks,
      .encode = Blocks::encode,
      .decode = Blocks::decode,
      .units = Blocks::units};
}

}  // namespace hone
