#include "hone/formats/nf4.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "hone/formats/codes.h"
#include "hone/formats/row_groups.h"

namespace hone {
namespace {

constexpr std::array<float, 16> kLevels = {-1.0f,
                                           -0.6961928009986877f,
                                           -0.5250730514526367f,
                                           -0.39491748809814453f,
                                           -0.28444138169288635f,
                                           -0.18477343022823334f,
                                           -0.09105003625154495f,
                                           0.0f,
                                           0.07958029955625534f,
                                           0.16093020141124725f,
                                           0.24611230194568634f,
                                           0.33791524171829224f,
                                           0.44070982933044434f,
                                           0.5626170039176941f,
                                           0.7229568362236023f,
                                           1.0f};

constexpr std::array<float, 15> kMiddles = [] {
  std::array<float, 15> middles{};
  for (std::size_t i = 0; i < middles.size(); ++i)
    middles[i] = static_cast<float>((static_cast<double>(kLevels[i]) + kLevels[i + 1]) / 2);
  return middles;
}();

RowGroups blocks_of(const QuantizerInput& input) { return {input.sizes, input.format["block"]}; }

std::uint32_t shared_of(const kernels::ValueRange& range) {
  return scalar::half_scale(std::max(-range.lowest, range.highest));
}

// The code of x, given 1 / scale; 0 for NaN.
std::uint32_t code_of(float x, float inverse) {
  std::uint32_t code = 0;
  for (const float middle : kMiddles) code += x * inverse > middle ? 1 : 0;
  return code;
}

void quantize_block(std::uint32_t shared, std::span<const float> x, std::span<float> y) {
  const float scale = scalar::half_value(shared), inverse = 1 / scale;
  for (std::size_t i = 0; i < x.size(); ++i)
    y[i] = std::isnan(x[i]) ? x[i] : kLevels[code_of(x[i], inverse)] * scale;
}

void quantize_reference(const QuantizerInput& input, std::span<float> y) {
  const RowGroups blocks = blocks_of(input);
  for (std::int64_t b = 0; b < blocks.count(); ++b) {
    const auto x = blocks.of(input.x, b);
    quantize_block(shared_of(finite_range_reference(x)), x, blocks.of(y, b));
  }
}

void quantize(const QuantizerInput& input, ThreadPool& pool, std::span<float> y) {
  const RowGroups blocks = blocks_of(input);
  blocks.for_each(pool, [&](std::int64_t b) {
    const auto x = blocks.of(input.x, b);
    quantize_block(shared_of(kernels::finite_range(pool, std::ssize(x), x.data())), x,
                   blocks.of(y, b));
  });
}

Codes encode(const QuantizerInput& input) {
  const RowGroups blocks = blocks_of(input);
  Codes codes;
  codes.elements.reserve(input.x.size());
  for (std::int64_t b = 0; b < blocks.count(); ++b) {
    const auto x = blocks.of(input.x, b);
    codes.shared.push_back(shared_of(finite_range_reference(x)));
    const float inverse = 1 / scalar::half_value(codes.shared.back());
    for (const float value : x) {
      check_has_code(input.format, !std::isnan(value), value);
      codes.elements.push_back(code_of(value, inverse));
    }
  }
  return codes;
}

void decode(const QuantizerInput& input, const Codes& codes, std::span<float> y) {
  const RowGroups blocks = blocks_of(input);
  for (std::int64_t b = 0; b < blocks.count(); ++b) {
    const float scale = scalar::half_value(codes.shared[static_cast<std::size_t>(b)]);
    std::ranges::transform(blocks.of(std::span(codes.elements), b), blocks.of(y, b).begin(),
                           [&](std::uint32_t code) { return kLevels[code] * scale; });
  }
}

}  // namespace

FormatDef nf4_format() {
  return {
      .name = "nf4",
      .summary = "16 quantiles of the normal distribution with a scale per block (NormalFloat4)",
      .source = "Dettmers et al., QLoRA: Efficient Finetuning of Quantized LLMs, 2023",
      .parameters = {{"block", "values that share a scale, along a row", 1, 65536, 64}},
      .layout =
          [](const Format& format, const Sizes& sizes) {
            return RowGroups(sizes, format["block"]).layout(4, 0, false);
          },
      .fields = [](const Format&) -> std::vector<CodeField> {
        return {{"index", 4}};
      },
      .quantize_reference = quantize_reference,
      .quantize = quantize,
      .locality = [](const Format&, std::int64_t) { return Locality::row; },
      .encode = encode,
      .decode = decode,
      .units = [](const QuantizerInput& input) -> std::optional<CodeUnits> {
        return CodeUnits{.units = {kLevels.begin(), kLevels.end()},
                         .group = blocks_of(input).size,
                         .scales = {}};
      }};
}

}  // namespace hone
