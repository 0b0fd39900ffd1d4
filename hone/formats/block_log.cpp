#include "hone/formats/block_log.h"

#include <algorithm>
#include <cmath>

#include "hone/formats/blocks.h"
#include "hone/formats/mase_blocks.h"
#include "hone/formats/mode.h"
#include "hone/kernels/scalar/mase_block.h"

namespace hone {
namespace {

constexpr int kLowestPower = -126;

struct CodeFields {
  int width;
  int bias_width;

  explicit CodeFields(const Format& format)
      : width(static_cast<int>(format["width"])),
        bias_width(static_cast<int>(format["exponent_bias_width"])) {}

  int exponent_width() const { return width - 1; }
  int highest_field() const { return (1 << exponent_width()) - 1; }
  // The number of powers, from field 1 to highest_field().
  int octaves() const { return highest_field() - 1; }
  // The bounds of the exponent t of the largest power.
  int lowest_top() const { return std::max(-(1 << (bias_width - 1)), kLowestPower); }
  int highest_top() const { return (1 << (bias_width - 1)) - 1; }
  float highest_bias_of_mase() const { return static_cast<float>((1 << bias_width) - 1); }
};

int fixed_top(const CodeFields& fields, float largest) {
  return largest == 0 ? fields.lowest_top()
                      : std::clamp(ceil_log2(largest), fields.lowest_top(), fields.highest_top());
}

// Returns the field of the power nearest to relative = x / 2^top on a logarithmic scale, 0 for zero.
std::uint32_t nearest_field(const CodeFields& fields, double relative, int top) {
  if (relative == 0) return 0;
  int exponent = 0;
  const double fraction = std::frexp(std::fabs(relative), &exponent);  // in [1/2, 1)
  if (fraction * fraction < 0.5) --exponent;
  const int field = std::min(exponent, 0) + fields.highest_field();
  return field < 1 || exponent + top < kLowestPower ? 0 : static_cast<std::uint32_t>(field);
}

BlockCoding fixed_coding(const Format& format) {
  const CodeFields fields(format);
  return {fields.width,
          fields.bias_width,
          1 << (fields.bias_width - 1),
          false,
          [=](float largest) { return fixed_top(fields, largest); },
          [=](double relative, int top) {
            return with_sign(nearest_field(fields, relative, top), relative,
                             fields.exponent_width());
          },
          [=](std::uint32_t code) {
            const int field = static_cast<int>(code) & fields.highest_field();
            const double power = field == 0 ? 0 : std::ldexp(1.0, field - fields.highest_field());
            return signed_by_code(power, code, fields.exponent_width());
          }};
}

scalar::MaseBlockLog mase_rule(const CodeFields& fields) {
  return {fields.exponent_width(), fields.highest_bias_of_mase()};
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
          [=](float bias, float y) {
            const int field = y == 0 ? 0 : std::ilogb(y) + static_cast<int>(bias);
            return with_sign(static_cast<std::uint32_t>(field), y, fields.exponent_width());
          },
          [=](float bias, std::uint32_t code) {
            const int field = static_cast<int>(code) & fields.highest_field();
            const double power = std::ldexp(1.0, field - static_cast<int>(bias));
            return static_cast<float>(signed_by_code(power, code, fields.exponent_width()));
          }};
}

// Considers blocks as large as the tensor, because smaller ones have no powers nearer to the median.
std::string objection(const Format& format, const Observation& seen) {
  if (seen.magnitude() == 0) return "";
  const CodeFields fields(format);
  int top = fixed_top(fields, seen.magnitude());
  int lowest = std::max(top - fields.octaves(), kLowestPower);
  if (is_mase(format)) {
    lowest = -static_cast<int>(mase_bias(fields, seen.magnitude()));
    top = lowest + fields.highest_field();
  }
  return block_objection(seen, {std::ldexp(1.0, lowest), std::ldexp(1.0, top)},
                         fmt::format("exponent_bias_width={}", fields.bias_width),
                         fields.bias_width == 8 ? "a larger width" : "exponent_bias_width=8");
}

using Blocks = TwoModes<fixed_coding, mase_blocks>;

void quantize(const QuantizerInput& input, ThreadPool& pool, std::span<float> y) {
  const CodeFields fields(input.format);
  if (is_mase(input.format)) return Blocks::quantize_by_definition(input, pool, y);
  const BlockLayout layout = Blocks::blocks_of(input.format, input.sizes);
  // A magnitude above a power of two makes the next power the largest.
  const kernels::BlockScale scale{0, fields.lowest_top(), fields.highest_top(), 1};
  with_axis_last(layout, pool, input.x, y, [&](const float* from, float* to) {
    kernels::round_blocks_to_powers(pool, layout.grid, scale, fields.octaves(), from, to);
  });
}

}  // namespace

FormatDef block_log_format() {
  return {.name = "block_log",
          .summary = "powers of two and zero with an exponent bias per block",
          .source = "Miyashita et al., LogNet, 2016",
          .parameters = {{"width", "bits of a value", 2, 16, 8},
                         {"exponent_bias_width", "bits of the exponent bias of a block", 1, 8, 8},
                         block_parameter(16),
                         rows_parameter(),
                         axis_parameter(),
                         mode_parameter()},
          .layout = Blocks::Fixed::layout,
          .fields = [](const Format& format) -> std::vector<CodeField> {
            return {{"sign", 1}, {"exponent", CodeFields(format).exponent_width()}};
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
