#include "hone/formats/block_fp.h"

#include <algorithm>
#include <cmath>

#include "hone/base/error.h"
#include "hone/formats/blocks.h"
#include "hone/formats/mase_blocks.h"
#include "hone/formats/mase_rounding.h"
#include "hone/formats/mode.h"
#include "hone/kernels/scalar/mase_block.h"

namespace hone {
namespace {

int width_of(const Format& format) { return static_cast<int>(format["width"]); }
int mantissa_bits(const Format& format) { return width_of(format) - 1; }
int exponent_width(const Format& format) { return static_cast<int>(format["exponent_width"]); }
int bias_of(const Format& format) { return static_cast<int>(format["exponent_bias"]); }

struct Exponents {
  int lowest;
  int highest;
};

Exponents exponents_of(const Format& format) {
  return {-bias_of(format), (1 << exponent_width(format)) - 1 - bias_of(format)};
}

// Returns the exponents for which every value of a block is a float. The others are not needed: no float is above the
// highest, and every float is a multiple of the lowest step.
Exponents float_exponents_of(const Format& format) {
  const Exponents all = exponents_of(format);
  return {std::max(all.lowest, mantissa_bits(format) - 149), std::min(all.highest, 128)};
}

void complete(Format& format) {
  if (format["exponent_bias"] == kAuto)
    format["exponent_bias"] = (1 << (exponent_width(format) - 1)) - 1;
  const Exponents all = exponents_of(format), possible = float_exponents_of(format);
  user_check(possible.lowest <= possible.highest,
             "exponents from {} to {} exceed those of a float; use exponent_bias=auto", all.lowest,
             all.highest);
}

int fixed_exponent(const Format& format, float largest) {
  const auto [lowest, highest] = float_exponents_of(format);
  if (largest == 0) return lowest;
  const int m = mantissa_bits(format);
  int e = floor_log2(largest) + 1;
  if (std::nearbyint(std::ldexp(static_cast<double>(largest), m - e)) == std::ldexp(1.0, m)) ++e;
  return std::clamp(e, lowest, highest);
}

BlockCoding fixed_coding(const Format& format) {
  const int m = mantissa_bits(format);
  const double limit = std::ldexp(1.0, m) - 1;
  return {m + 1,
          exponent_width(format),
          bias_of(format),
          false,
          [format](float largest) { return fixed_exponent(format, largest); },
          [=](double relative, int) {
            const double whole = std::nearbyint(std::ldexp(std::fabs(relative), m));
            return with_sign(static_cast<std::uint32_t>(std::min(whole, limit)), relative, m);
          },
          [=](std::uint32_t code) {
            return signed_by_code(std::ldexp(code & ((1u << m) - 1), -m), code, m);
          }};
}

MaseBlocks mase_blocks(const Format& format) {
  const int m = mantissa_bits(format);
  const float steps = std::ldexp(1.0f, m);
  const Exponents exponents = exponents_of(format);
  const scalar::MaseBlockFp rule{m, exponents.lowest, exponents.highest};
  return {m + 1,
          exponent_width(format),
          bias_of(format),
          [=](float largest) { return rule.shared(largest); },
          [=](float exponent, float x) { return mase_mantissa(m, exponent, x); },
          [=](float exponent, float y) {
            const double size = std::fabs(static_cast<double>(y));
            const double whole = std::ldexp(size, m - static_cast<int>(exponent));
            const double limit = steps - 1;
            return with_sign(static_cast<std::uint32_t>(std::min(whole, limit)), y, m);
          },
          [=](float exponent, std::uint32_t code) {
            const double whole = code & ((1u << m) - 1);
            return static_cast<float>(
                signed_by_code(std::ldexp(whole, static_cast<int>(exponent) - m), code, m));
          }};
}

using Blocks = TwoModes<fixed_coding, mase_blocks>;

void quantize(const QuantizerInput& input, ThreadPool& pool, std::span<float> y) {
  if (is_mase(input.format)) return Blocks::quantize_by_definition(input, pool, y);
  const BlockLayout layout = Blocks::blocks_of(input.format, input.sizes);
  const int m = mantissa_bits(input.format);
  const Exponents exponents = float_exponents_of(input.format);
  const kernels::BlockScale scale{1, exponents.lowest, exponents.highest,
                                  (1u << 23) - (1u << (23 - m))};
  // A float with m - 1 mantissa bits has this format's step between 1/2 and 1, and keeps it below 1/2.
  const kernels::Minifloat elements{m - 1, -1, 1 - std::ldexp(1.0f, -m)};
  with_axis_last(layout, pool, input.x, y, [&](const float* from, float* to) {
    kernels::round_blocks_to_minifloats(pool, layout.grid, scale, elements, from, to);
  });
}

}  // namespace

FormatDef block_fp_format() {
  return {.name = "block_fp",
          .summary = "sign and mantissa per value, an exponent per block (MSFP)",
          .source = "Darvish Rouhani et al., Microsoft Floating Point, NeurIPS 2020",
          .parameters = {{"width", "bits of a value: sign and mantissa", 2, 24, 8},
                         {"exponent_width", "bits of the exponent of a block", 1, 8, 8},
                         {"exponent_bias", "subtracted from the exponent field", -256, 512, kAuto},
                         block_parameter(16),
                         rows_parameter(),
                         axis_parameter(),
                         mode_parameter()},
          .complete = complete,
          .layout = Blocks::Fixed::layout,
          .fields = [](const Format& format) -> std::vector<CodeField> {
            return {{"sign", 1}, {"mantissa", width_of(format) - 1}};
          },
          .quantize_reference = Blocks::quantize_reference,
          .quantize = quantize,
          .locality = locality_of_blocks,
          .encode = Blocks::encode,
          .decode = Blocks::decode,
          .units = Blocks::units};
}

}  // namespace hone
