#include "hone/formats/half.h"

#include "hone/kernels/half_conversion.h"
#include "hone/kernels/minifloat.h"

namespace hone {
namespace {

constexpr kernels::Minifloat kBfloat16 = {7, -126, 0x1.fep127f, true};
constexpr kernels::Minifloat kFloat16 = {10, -14, 65504, true};

template <const kernels::Minifloat& kValues>
void quantize_reference(const QuantizerInput& input, std::span<float> y) {
  for (std::size_t i = 0; i < y.size(); ++i) y[i] = kernels::round_scalar(kValues, input.x[i]);
}

template <auto kConvert>
Codes encode(const QuantizerInput& input) {
  std::vector<std::uint16_t> patterns(input.x.size());
  ThreadPool alone(1);
  kConvert(alone, static_cast<std::int64_t>(patterns.size()), input.x.data(), patterns.data());
  return {{patterns.begin(), patterns.end()}, {}};
}

template <auto kConvert>
void decode(const QuantizerInput&, const Codes& codes, std::span<float> y) {
  std::vector<std::uint16_t> patterns;
  for (const std::uint32_t code : codes.elements)
    patterns.push_back(static_cast<std::uint16_t>(code));
  ThreadPool alone(1);
  kConvert(alone, static_cast<std::int64_t>(patterns.size()), patterns.data(), y.data());
}

CodeLayout layout(const Format&, const Sizes&) { return {.element_bits = 16}; }

template <kernels::Half kHalf>
std::optional<CodeUnits> units(const QuantizerInput&) {
  return CodeUnits{.units = {}, .group = 0, .scales = {1}, .half = kHalf};
}

template <int kExponentBits>
std::vector<CodeField> fields(const Format&) {
  return {{"sign", 1},
          {"exponent", kExponentBits, (1 << (kExponentBits - 1)) - 1},
          {"fraction", 15 - kExponentBits}};
}

}  // namespace

FormatDef bf16_format() {
  return {.name = "bf16",
          .summary = "bfloat16: 8 exponent and 7 mantissa bits",
          .layout = layout,
          .fields = fields<8>,
          .quantize_reference = quantize_reference<kBfloat16>,
          .quantize =
              [](const QuantizerInput& input, ThreadPool& pool, std::span<float> y) {
                kernels::round_to_bfloat16(pool, static_cast<std::int64_t>(y.size()),
                                           input.x.data(), y.data());
              },
          .locality = independent_elements,
          .encode = encode<kernels::float_to_bfloat16>,
          .decode = decode<kernels::bfloat16_to_float>,
          .units = units<kernels::Half::bfloat16>};
}

FormatDef fp16_format() {
  return {.name = "fp16",
          .summary = "IEEE binary16: 5 exponent and 10 mantissa bits",
          .source = "IEEE 754-2019",
          .layout = layout,
          .fields = fields<5>,
          .quantize_reference = quantize_reference<kFloat16>,
          .quantize =
              [](const QuantizerInput& input, ThreadPool& pool, std::span<float> y) {
                kernels::round_to_minifloat(pool, kFloat16, static_cast<std::int64_t>(y.size()),
                                            input.x.data(), y.data());
              },
          .locality = independent_elements,
          .encode = encode<kernels::float_to_float16>,
          .decode = decode<kernels::float16_to_float>,
          .units = units<kernels::Half::float16>};
}

}  // namespace hone
