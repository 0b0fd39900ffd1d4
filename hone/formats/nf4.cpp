#include "hone/formats/nf4.h"

#include <algorithm>
#include <cmath>

#include "hone/formats/codes.h"
#include "hone/formats/row_groups.h"
#include "hone/kernels/scalar/row_groups.h"

namespace hone {
namespace {

RowGroups blocks_of(const QuantizerInput& input) { return {input.sizes, input.format["block"]}; }

scalar::NormalFloatGroup group_of(const kernels::ValueRange& range) {
  return scalar::NormalFloatGroups().of({.range = {range.lowest, range.highest}});
}

void quantize_reference(const QuantizerInput& input, std::span<float> y) {
  const RowGroups blocks = blocks_of(input);
  for (std::int64_t b = 0; b < blocks.count(); ++b) {
    const auto x = blocks.of(input.x, b);
    std::ranges::transform(x, blocks.of(y, b).begin(), group_of(finite_range_reference(x)));
  }
}

void quantize(const QuantizerInput& input, ThreadPool& pool, std::span<float> y) {
  const RowGroups blocks = blocks_of(input);
  blocks.for_each(pool, [&](std::int64_t b) {
    const auto x = blocks.of(input.x, b);
    std::ranges::transform(x, blocks.of(y, b).begin(),
                           group_of(kernels::finite_range(pool, std::ssize(x), x.data())));
  });
}

Codes encode(const QuantizerInput& input) {
  const RowGroups blocks = blocks_of(input);
  Codes codes;
  codes.elements.reserve(input.x.size());
  for (std::int64_t b = 0; b < blocks.count(); ++b) {
    const auto x = blocks.of(input.x, b);
    const scalar::NormalFloatGroup group = group_of(finite_range_reference(x));
    codes.shared.push_back(group.shared);
    for (const float value : x) {
      check_has_code(input.format, !std::isnan(value), value);
      codes.elements.push_back(group.code(value));
    }
  }
  return codes;
}

void decode(const QuantizerInput& input, const Codes& codes, std::span<float> y) {
  const RowGroups blocks = blocks_of(input);
  for (std::int64_t b = 0; b < blocks.count(); ++b) {
    const float scale = scalar::half_value(codes.shared[static_cast<std::size_t>(b)]);
    std::ranges::transform(blocks.of(std::span(codes.elements), b), blocks.of(y, b).begin(),
                           [&](std::uint32_t code) { return scalar::kNormalFloats[code] * scale; });
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
        return CodeUnits{
            .units = {std::begin(scalar::kNormalFloats), std::end(scalar::kNormalFloats)},
            .group = blocks_of(input).size,
            .scales = {}};
      }};
}

}  // namespace hone
