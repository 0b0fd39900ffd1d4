#include "hone/formats/logarithm.h"

#include <algorithm>
#include <cmath>

#include "hone/base/error.h"
#include "hone/formats/codes.h"
#include "hone/formats/mase_rounding.h"
#include "hone/formats/mode.h"
#include "hone/formats/range_objection.h"
#include "hone/kernels/grain.h"
#include "hone/kernels/logarithm.h"

namespace hone {
namespace {

bool calibrated(const Format& format) { return format["exponent_bias"] == kAuto; }

std::int64_t bias_of(const QuantizerInput& input) {
  return calibrated(input.format) ? static_cast<std::int64_t>(*input.state[0].data<float>())
                                  : input.format["exponent_bias"];
}

int exponent_width(const Format& format) { return static_cast<int>(format["width"]) - 1; }

std::int64_t highest_field(const Format& format) {
  return (std::int64_t{1} << exponent_width(format)) - 1;
}

std::int64_t default_bias(const Format& format) {
  return (std::int64_t{1} << (format["width"] - 2)) - 1;
}

void complete(Format& format) {
  if (calibrated(format) && !is_mase(format)) return;
  if (calibrated(format)) format["exponent_bias"] = default_bias(format);
  const std::int64_t lowest = 1 - format["exponent_bias"];
  const std::int64_t highest = highest_field(format) - format["exponent_bias"];
  user_check(highest >= -126 && lowest <= 127,
             "exponents from {} to {} exceed those of a float (-126 … 127); use "
             "exponent_bias=auto",
             lowest, highest);
}

kernels::PowerGrid grid(const Format& format, std::int64_t bias) {
  const auto of_float = [](std::int64_t exponent) {
    return static_cast<int>(std::clamp<std::int64_t>(exponent, -126, 127));
  };
  return {of_float(1 - bias), of_float(highest_field(format) - bias)};
}

std::vector<FormatStateDef> state(const Format& format) {
  if (!calibrated(format)) return {};
  return {{"exponent_bias", "subtracted from the exponent field"}};
}

// Returns the bias whose largest power is the first not below the largest magnitude.
std::int64_t bias_for(const Format& format, float magnitude) {
  if (magnitude == 0) return default_bias(format);
  return highest_field(format) - std::clamp(ceil_log2(magnitude), -126, 127);
}

std::vector<Tensor> calibrate(const Format& format, const Observation& seen) {
  return {Tensor::scalar(static_cast<float>(bias_for(format, seen.magnitude())))};
}

std::string objection(const Format& format, const Observation& seen) {
  const std::int64_t better = bias_for(format, seen.magnitude());
  const std::int64_t bias = calibrated(format) ? better : format["exponent_bias"];
  const kernels::PowerGrid powers = grid(format, bias);
  const int smallest = is_mase(format) ? powers.min_exponent - 1 : powers.min_exponent;
  return range_objection(seen, {std::ldexp(1.0, smallest), std::ldexp(1.0, powers.max_exponent)},
                         bias, better, "width");
}

void quantize_reference(const QuantizerInput& input, std::span<float> y) {
  const std::int64_t bias = bias_of(input);
  if (!is_mase(input.format)) {
    const kernels::PowerGrid powers = grid(input.format, bias);
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = kernels::round_to_power(powers, input.x[i]);
    return;
  }
  const auto offset = static_cast<float>(0.1 * std::ldexp(1.0, static_cast<int>(-bias)));
  const int width = exponent_width(input.format);
  for (std::size_t i = 0; i < y.size(); ++i) y[i] = mase_log(width, bias, offset, input.x[i]);
}

void quantize(const QuantizerInput& input, ThreadPool& pool, std::span<float> y) {
  const auto count = static_cast<std::int64_t>(y.size());
  if (!is_mase(input.format)) {
    return kernels::round_to_powers(pool, grid(input.format, bias_of(input)), count, input.x.data(),
                                    y.data());
  }
  parallel_ranges(pool, count, kernels::kChunkElements, [&](std::int64_t begin, std::int64_t end) {
    const auto first = static_cast<std::size_t>(begin);
    const auto size = static_cast<std::size_t>(end - begin);
    quantize_reference({input.format, input.sizes, input.x.subspan(first, size), input.state},
                       y.subspan(first, size));
  });
}

Codes encode(const QuantizerInput& input) {
  const std::int64_t bias = bias_of(input);
  const std::uint32_t sign = std::uint32_t{1} << exponent_width(input.format);
  const bool has_zero = !is_mase(input.format);
  std::vector<float> y(input.x.size());
  quantize_reference(input, y);
  Codes codes;
  codes.elements.reserve(input.x.size());
  for (std::size_t i = 0; i < y.size(); ++i) {
    check_has_code(input.format, std::isfinite(y[i]) && (y[i] != 0 || has_zero), input.x[i]);
    const std::int64_t field = y[i] == 0 ? 0 : std::ilogb(y[i]) + bias;
    codes.elements.push_back((y[i] < 0 ? sign : 0) | static_cast<std::uint32_t>(field));
  }
  return codes;
}

void decode(const QuantizerInput& input, const Codes& codes, std::span<float> y) {
  const std::int64_t bias = bias_of(input);
  const std::uint32_t sign = std::uint32_t{1} << exponent_width(input.format);
  const bool has_zero = !is_mase(input.format);
  for (std::size_t i = 0; i < y.size(); ++i) {
    const std::uint32_t field = codes.elements[i] & (sign - 1);
    const float power =
        field == 0 && has_zero
            ? 0
            : std::ldexp(1.0f, static_cast<int>(static_cast<std::int64_t>(field) - bias));
    y[i] = codes.elements[i] < sign ? power : -power;
  }
}

}  // namespace

FormatDef log_format() {
  return {
      .name = "log",
      .summary = "powers of two and zero",
      .parameters = {{"width", "total bits", 2, 24, 8},
                     {"exponent_bias", "subtracted from the exponent field", -256, 1 << 24, kAuto},
                     mode_parameter()},
      .complete = complete,
      .layout = [](const Format& format,
                   const Sizes&) { return CodeLayout{static_cast<int>(format["width"])}; },
      .fields = [](const Format& format) -> std::vector<CodeField> {
        const int exponent_width = static_cast<int>(format["width"]) - 1;
        CodeField exponent{"exponent", exponent_width};
        if (!calibrated(format)) exponent.bias = format["exponent_bias"];
        return {{"sign", 1}, exponent};
      },
      .state = state,
      .calibrate = calibrate,
      .objection = objection,
      .quantize_reference = quantize_reference,
      .quantize = quantize,
      .locality = independent_elements,
      .encode = encode,
      .decode = decode};
}

}  // namespace hone
