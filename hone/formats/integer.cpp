#include "hone/formats/integer.h"

#include <algorithm>
#include <cmath>

#include "hone/kernels/fixed_point.h"

namespace hone {
namespace {

bool calibrated(const Format& format) { return format["frac"] == kAuto; }

int fraction(const Format& format, std::span<const Tensor> state) {
  return calibrated(format) ? static_cast<int>(*state[0].data<float>())
                            : static_cast<int>(format["frac"]);
}

std::vector<FormatStateDef> state(const Format& format) {
  if (!calibrated(format)) return {};
  return {{"frac", "bits behind the binary point", {}}};
}

// The largest fraction f with max|x| 2^f <= 2^(width-1) - 1, within the range a parameter may have.
std::vector<Tensor> calibrate(const Format& format, const Observation& seen) {
  const double magnitude = std::max(std::fabs(static_cast<double>(seen.minimum)),
                                    std::fabs(static_cast<double>(seen.maximum)));
  const double limit = std::ldexp(1.0, static_cast<int>(format["width"]) - 1) - 1;
  const FormatParameterDef& range = format.def->parameters[1];
  double bits = static_cast<double>(range.maximum);
  if (std::isfinite(magnitude) && magnitude > 0)
    bits = std::floor(std::log2(std::max(limit, 1.0) / magnitude));
  bits = std::clamp(bits, static_cast<double>(range.minimum), static_cast<double>(range.maximum));
  return {Tensor::scalar(static_cast<float>(bits))};
}

void quantize_reference(const Format& format, std::span<const float> x,
                        std::span<const Tensor> state, std::span<float> y) {
  const int frac = fraction(format, state);
  const double high = std::ldexp(1.0, static_cast<int>(format["width"]) - 1) - 1;
  const double low = -high - 1;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double scaled = std::nearbyint(std::ldexp(static_cast<double>(x[i]), frac));
    const double clamped = std::isnan(scaled) ? scaled : std::clamp(scaled, low, high);
    y[i] = static_cast<float>(std::ldexp(clamped, -frac));
  }
}

void quantize(const Format& format, ThreadPool& pool, std::span<const float> x,
              std::span<const Tensor> state, std::span<float> y) {
  const double high = std::ldexp(1.0, static_cast<int>(format["width"]) - 1) - 1;
  const kernels::FixedPoint grid{fraction(format, state), static_cast<float>(-high - 1),
                                 static_cast<float>(high)};
  kernels::round_to_fixed_point(pool, grid, static_cast<std::int64_t>(x.size()), x.data(),
                                y.data());
}

}  // namespace

FormatDef integer_format() {
  return {.name = "integer",
          .summary = "fixed point: whole multiples of 2^-frac in two's complement",
          .parameters = {{"width", "bits in all", 1, 32, 8},
                         {"frac", "bits behind the binary point", -64, 64, kAuto}},
          .average_bits = [](const Format& format) { return static_cast<double>(format["width"]); },
          .state = state,
          .calibrate = calibrate,
          .quantize_reference = quantize_reference,
          .quantize = quantize};
}

}  // namespace hone
