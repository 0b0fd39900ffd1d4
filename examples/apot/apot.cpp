#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "hone/runtime/plugin.h"

// Additive powers of two, a number format defined outside of the library: Li, Dong and Wang, "Additive Powers-of-Two
// Quantization", ICLR 2020. A value is a sum of two powers of two, or zero, times the largest magnitude of its block,
// so that hardware multiplies by shifts and one addition:
//
//     y = ± scale level(|x| / scale),  scale = max|x| over `block` values along the last axis
//
// The paper learns one scale per tensor. A block with a NaN or an infinity becomes NaN. To make your own format, copy
// and change this file.
namespace {

using namespace hone;

// 0, 2^-4, 2^-3, 2^-4 + 2^-3, 2^-2, 2^-2 + 2^-3, 2^-1 and 2^-1 + 2^-3, divided by the largest.
constexpr std::array<float, 8> kLevels = {0, 0.1f, 0.2f, 0.3f, 0.4f, 0.6f, 0.8f, 1};
constexpr std::uint32_t kSign = 8;

// Returns the scale of a block, or NaN if a value is not finite.
float scale_of(std::span<const float> x) {
  float largest = 0;
  for (const float value : x) {
    if (!std::isfinite(value)) return std::numeric_limits<float>::quiet_NaN();
    largest = std::max(largest, std::fabs(value));
  }
  return largest;
}

// Returns the index of the nearest level, the higher one of two at the same distance, with the sign in the bit above
// it. Computes in double, where the midpoint of two floats is exact.
std::uint32_t code_of(float x, float scale) {
  const double relative = scale > 0 ? std::fabs(static_cast<double>(x)) / scale : 0;
  std::uint32_t code = x < 0 ? kSign : 0;
  for (std::size_t i = 0; i + 1 < kLevels.size(); ++i) {
    const double middle = (static_cast<double>(kLevels[i]) + kLevels[i + 1]) / 2;
    code += relative >= middle ? 1 : 0;
  }
  return code;
}

float value_of(std::uint32_t code, float scale) {
  const float magnitude = kLevels[code % kSign] * scale;
  return code < kSign ? magnitude : -magnitude;
}

// The blocks of a tensor. They do not span rows: the last one of a row may be shorter.
struct Blocks {
  Rows rows;
  std::int64_t size;
  std::int64_t per_row;

  Blocks(const Format& format, const Sizes& sizes)
      : rows(rows_of(sizes)), size(format["block"]), per_row((rows.columns + size - 1) / size) {}

  std::int64_t count() const { return rows.count * per_row; }
  template <typename T>
  std::span<T> of(std::span<T> values, std::int64_t index) const {
    const std::int64_t first = index % per_row * size;
    return values.subspan(static_cast<std::size_t>(index / per_row * rows.columns + first),
                          static_cast<std::size_t>(std::min(size, rows.columns - first)));
  }
};

void quantize_block(std::span<const float> x, std::span<float> y) {
  const float scale = scale_of(x);
  for (std::size_t i = 0; i < x.size(); ++i) y[i] = value_of(code_of(x[i], scale), scale);
}

// The reference: plain loops.
void quantize_reference(const QuantizerInput& input, std::span<float> y) {
  const Blocks blocks(input.format, input.sizes);
  for (std::int64_t b = 0; b < blocks.count(); ++b)
    quantize_block(blocks.of(input.x, b), blocks.of(y, b));
}

// Gives the same bits for any number of threads: the chunks depend on the shape alone.
void quantize(const QuantizerInput& input, ThreadPool& pool, std::span<float> y) {
  const Blocks blocks(input.format, input.sizes);
  const std::int64_t grain = std::max<std::int64_t>(1, 16384 / blocks.size);
  parallel_ranges(pool, blocks.count(), grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t b = begin; b < end; ++b)
      quantize_block(blocks.of(input.x, b), blocks.of(y, b));
  });
}

CodeLayout layout(const Format& format, const Sizes& sizes) {
  return {.element_bits = 4, .shared_bits = 32, .shared_count = Blocks(format, sizes).count()};
}

Codes encode(const QuantizerInput& input) {
  const Blocks blocks(input.format, input.sizes);
  Codes codes;
  for (std::int64_t b = 0; b < blocks.count(); ++b) {
    const std::span<const float> block = blocks.of(input.x, b);
    const float scale = scale_of(block);
    for (const float x : block) codes.elements.push_back(code_of(x, scale));
    codes.shared.push_back(std::bit_cast<std::uint32_t>(scale));
  }
  return codes;
}

void decode(const QuantizerInput& input, const Codes& codes, std::span<float> y) {
  const Blocks blocks(input.format, input.sizes);
  for (std::int64_t b = 0; b < blocks.count(); ++b) {
    const float scale = std::bit_cast<float>(codes.shared[static_cast<std::size_t>(b)]);
    std::ranges::transform(blocks.of(std::span(codes.elements), b), blocks.of(y, b).begin(),
                           [&](std::uint32_t code) { return value_of(code, scale); });
  }
}

FormatDef apot_format() {
  return {.name = "apot",
          .summary = "sums of two powers of two, scaled per block (additive powers of two)",
          .source = "Li et al., Additive Powers-of-Two Quantization, ICLR 2020",
          .parameters = {{"block", "values that share a scale", 1, 65536, 64}},
          .layout = layout,
          .fields = [](const Format&) -> std::vector<CodeField> {
            return {{"sign", 1}, {"index", 3}};
          },
          .quantize_reference = quantize_reference,
          .quantize = quantize,
          .encode = encode,
          .decode = decode};
}

}  // namespace

HONE_PLUGIN(library) {
  const FormatDef def = apot_format();
  library.formats.emplace(def.name, def);
}
