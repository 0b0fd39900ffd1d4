#include "hone/formats/mxint_hardware.h"

#include <algorithm>
#include <cmath>

#include "hone/formats/blocks.h"
#include "hone/formats/codes.h"
#include "hone/formats/mase_blocks.h"
#include "hone/formats/mode.h"
#include "hone/kernels/scalar/mase_block.h"

namespace hone {
namespace {

struct CodeFields {
  int width;
  int exponent_width;

  explicit CodeFields(const Format& format)
      : width(static_cast<int>(format["width"])),
        exponent_width(static_cast<int>(format["exponent_width"])) {}

  int bias() const { return 1 << (exponent_width - 1); }
  int lowest_exponent() const { return -bias(); }
  int highest_exponent() const { return (1 << exponent_width) - 1 - bias(); }
  int magnitude_bits() const { return width - 1; }
  double limit() const { return std::ldexp(1.0, magnitude_bits()); }
};

// The highest exponent of the largest magnitude. Floats have none above 127.
int highest_top(const CodeFields& fields) {
  return std::min(fields.highest_exponent() + fields.magnitude_bits(), 127);
}

BlockCoding fixed_coding(const Format& format) {
  const CodeFields fields(format);
  const int m = fields.magnitude_bits();
  const double limit = fields.limit() - 1;
  return {
      fields.width,
      fields.exponent_width,
      fields.bias(),
      false,
      [=](float largest) {
        const int lowest = fields.lowest_exponent() + m;
        const int top = largest == 0 ? lowest : floor_log2(largest) + 1;
        return std::clamp(top, lowest, highest_top(fields)) - m;
      },
      [=](double relative, int) {
        const double whole = std::clamp(std::nearbyint(relative), -limit, limit);
        return signed_code(static_cast<std::int64_t>(whole), fields.width);
      },
      [=](std::uint32_t code) { return static_cast<double>(signed_value(code, fields.width)); }};
}

MaseBlocks mase_blocks(const Format& format) {
  const CodeFields fields(format);
  const scalar::MaseMxintHardware rule{static_cast<float>(fields.limit()), fields.bias(),
                                       fields.lowest_exponent(), fields.highest_exponent()};
  return {fields.width,
          fields.exponent_width,
          fields.bias(),
          [=](float largest) { return rule.shared(largest); },
          [=](float exponent, float x) { return rule.with_exponent(exponent)(x); },
          [=](float exponent, float y) {
            const double whole = std::ldexp(static_cast<double>(y), -static_cast<int>(exponent));
            return signed_code(static_cast<std::int64_t>(whole), fields.width);
          },
          [=](float exponent, std::uint32_t code) {
            const auto whole = static_cast<double>(signed_value(code, fields.width));
            return static_cast<float>(std::ldexp(whole, static_cast<int>(exponent)));
          }};
}

using Blocks = TwoModes<fixed_coding, mase_blocks>;

void quantize(const QuantizerInput& input, ThreadPool& pool, std::span<float> y) {
  if (is_mase(input.format)) return Blocks::quantize_by_definition(input, pool, y);
  const CodeFields fields(input.format);
  const int m = fields.magnitude_bits();
  const BlockLayout layout = Blocks::blocks_of(input.format, input.sizes);
  const kernels::BlockScale scale{1, fields.lowest_exponent() + m, highest_top(fields)};
  // A float with m - 1 mantissa bits has this format's step between 1/2 and 1, and keeps it below 1/2.
  const kernels::Minifloat elements{m - 1, -1, 1 - std::ldexp(1.0f, -m)};
  with_axis_last(layout, pool, input.x, y, [&](const float* from, float* to) {
    kernels::round_blocks_to_minifloats(pool, layout.grid, scale, elements, from, to);
  });
}

}  // namespace

FormatDef mxint_hardware_format() {
  return {.name = "mxint_hardware",
          .summary = "integers with a step per tile, its exponent of few bits",
          .source = "Cheng et al., Fast Prototyping Next-Generation Accelerators (MASE), 2023",
          .parameters = {{"width", "bits of a value", 2, 24, 8},
                         {"exponent_width", "bits of the exponent of a block", 2, 8, 8},
                         block_parameter(32),
                         rows_parameter(),
                         axis_parameter(),
                         mode_parameter()},
          .layout = Blocks::Fixed::layout,
          .fields = [](const Format& format) -> std::vector<CodeField> {
            return {{"integer", CodeFields(format).width}};
          },
          .quantize_reference = Blocks::quantize_reference,
          .quantize = quantize,
          .locality = locality_of_blocks,
          .encode = Blocks::encode,
          .decode = Blocks::decode,
          .units = Blocks::units};
}

}  // namespace hone
