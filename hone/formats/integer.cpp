#include "hone/formats/integer.h"

#include <algorithm>
#include <cmath>

#include "hone/formats/codes.h"
#include "hone/kernels/fixed_point.h"
#include "hone/kernels/scalar/fixed_point.h"

namespace hone {
namespace {

bool calibrated(const Format& format) { return format["frac"] == kAuto; }

// Clamps to the parameter's range, because a file may contain any value.
int fraction(const QuantizerInput& input) {
  if (!calibrated(input.format)) return static_cast<int>(input.format["frac"]);
  const FormatParameterDef& range = input.format.def->parameters[1];
  return static_cast<int>(std::clamp(*input.state[0].data<float>(),
                                     static_cast<float>(range.minimum),
                                     static_cast<float>(range.maximum)));
}

bool is_signed(const Format& format) { return format.is("sign", "signed"); }

int width_of(const Format& format) { return static_cast<int>(format["width"]); }

double highest(const Format& format) {
  return std::ldexp(1.0, width_of(format) - (is_signed(format) ? 1 : 0)) - 1;
}

double lowest(const Format& format) { return is_signed(format) ? -highest(format) - 1 : 0; }

std::vector<FormatStateDef> state(const Format& format) {
  if (!calibrated(format)) return {};
  return {{"frac", "bits after the binary point"}};
}

// Returns the largest fraction f with max|x| 2^f <= highest (unsigned: max x), within the parameter's range.
std::vector<Tensor> calibrate(const Format& format, const Observation& seen) {
  const FormatParameterDef& range = format.def->parameters[1];
  double bits = static_cast<double>(range.maximum);
  const float largest = is_signed(format) ? seen.magnitude() : seen.maximum();
  if (largest > 0) bits = std::floor(std::log2(std::max(highest(format), 1.0) / largest));
  bits = std::clamp(bits, static_cast<double>(range.minimum), static_cast<double>(range.maximum));
  return {Tensor::scalar(static_cast<float>(bits))};
}

scalar::FixedPoint multiples(const QuantizerInput& input) {
  return {.fraction = fraction(input),
          .rounds_down = input.format.is("rounding", "floor"),
          .lowest = lowest(input.format),
          .highest = highest(input.format)};
}

void quantize_reference(const QuantizerInput& input, std::span<float> y) {
  const scalar::FixedPoint round = multiples(input);
  for (std::size_t i = 0; i < y.size(); ++i) y[i] = round(input.x[i]);
}

void quantize(const QuantizerInput& input, ThreadPool& pool, std::span<float> y) {
  const kernels::FixedPoint grid{fraction(input), static_cast<float>(lowest(input.format)),
                                 static_cast<float>(highest(input.format))};
  const auto round = input.format.is("rounding", "floor") ? kernels::floor_to_fixed_point
                                                          : kernels::round_to_fixed_point;
  round(pool, grid, static_cast<std::int64_t>(y.size()), input.x.data(), y.data());
}

Codes encode(const QuantizerInput& input) {
  const scalar::FixedPoint grid = multiples(input);
  const int width = width_of(input.format);
  Codes codes;
  codes.elements.reserve(input.x.size());
  for (const float x : input.x) {
    check_has_code(input.format, !std::isnan(x), x);
    codes.elements.push_back(signed_code(static_cast<std::int64_t>(grid.whole(x)), width));
  }
  return codes;
}

void decode(const QuantizerInput& input, const Codes& codes, std::span<float> y) {
  const int frac = fraction(input), width = width_of(input.format);
  const bool has_sign = is_signed(input.format);
  for (std::size_t i = 0; i < y.size(); ++i) {
    const std::uint32_t code = codes.elements[i];
    const double whole = has_sign ? static_cast<double>(signed_value(code, width)) : code;
    y[i] = static_cast<float>(std::ldexp(whole, -frac));
  }
}

}  // namespace

FormatDef integer_format() {
  return {
      .name = "integer",
      .summary = "fixed point: whole multiples of 2^-frac in two's complement",
      .parameters =
          {{"width", "total bits", 1, 32, 8},
           {"frac", "bits after the binary point", -64, 64, kAuto},
           {"rounding", "to the nearest, ties to even, or down", 0, 0, 0, {"nearest", "floor"}},
           {"sign", "two's complement, or no negative values", 0, 0, 0, {"signed", "unsigned"}}},
      .layout =
          [](const Format& format, const Sizes&) {
            return CodeLayout{width_of(format), 0, 0, is_signed(format)};
          },
      .fields = [](const Format& format) -> std::vector<CodeField> {
        return {{"integer", width_of(format)}};
      },
      .state = state,
      .calibrate = calibrate,
      .quantize_reference = quantize_reference,
      .quantize = quantize,
      .locality = independent_elements,
      .encode = encode,
      .decode = decode};
}

}  // namespace hone
