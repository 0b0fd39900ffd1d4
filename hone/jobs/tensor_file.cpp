#include "hone/jobs/tensor_file.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "hone/base/text.h"
#include "hone/formats/calibrate.h"
#include "hone/report/figure.h"
#include "hone/tensor/safetensors.h"

namespace hone {
namespace {

constexpr std::size_t kBars = 80;

Tensor quantized(const Tensor& x, const Format& format, Context& context) {
  const std::vector<Tensor> state = calibrate_tensor(format, x.sizes(), x.values<float>());
  Tensor y = Tensor::empty(DType::f32, x.sizes());
  format.def->quantize({format, x.sizes(), x.values<float>(), state}, context.pool,
                       y.values<float>());
  return y;
}

std::vector<std::string> names_of(const TensorMap& tensors) {
  std::vector<std::string> names;
  for (const auto& [name, tensor] : tensors) names.push_back(name);
  return names;
}

// Returns the shares of the values in bars of equal width, as a step curve.
std::vector<Point> histogram(std::span<const float> x, double low, double high) {
  const double width = (high - low) / static_cast<double>(kBars);
  std::vector<double> counts(kBars, 0);
  for (const float value : x) {
    const double bar = (value - low) / width;
    counts[static_cast<std::size_t>(std::clamp(bar, 0.0, static_cast<double>(kBars - 1)))] += 1;
  }
  std::vector<Point> points;
  for (std::size_t i = 0; i < kBars; ++i)
    points.push_back(
        {low + static_cast<double>(i) * width, 100 * counts[i] / static_cast<double>(x.size())});
  points.push_back({high, 0});
  return points;
}

// Returns each distinct value with its share.
std::vector<Point> shares(std::span<const float> y) {
  std::map<float, double> counts;
  for (const float value : y) counts[value] += 1;
  std::vector<Point> points;
  for (const auto& [value, count] : counts)
    points.push_back({static_cast<double>(value), 100 * count / static_cast<double>(y.size())});
  return points;
}

}  // namespace

std::vector<QuantizedTensor> quantize_file(const fs::path& input, const fs::path& output,
                                           const std::string& glob, const Format& format,
                                           Context& context) {
  Safetensors file = read_safetensors(input);
  std::vector<QuantizedTensor> results;
  for (auto& [name, tensor] : file.tensors) {
    if (!info(tensor.dtype()).floating || !glob_match(glob, name)) continue;
    const Tensor x = tensor.cast(DType::f32);
    const Tensor y = with_context(name, [&] { return quantized(x, format, context); });
    QuantizedTensor result{name, x.sizes(), average_bits(format, x.sizes()), {}};
    result.noise.include(x.values<float>(), y.values<float>());
    results.push_back(std::move(result));
    tensor = y;
  }
  user_check(!results.empty(), "{}: no floating-point tensor matches '{}'; it has {}",
             input.string(), glob, fmt::join(names_of(file.tensors), ", "));
  if (!output.empty()) write_safetensors(output, file.tensors, file.metadata);
  return results;
}

void draw_histogram(const fs::path& input, const std::string& name, const Format& format,
                    const fs::path& stem, Context& context) {
  const Safetensors file = read_safetensors(input);
  const auto found = file.tensors.find(name);
  const std::vector<std::string> names = names_of(file.tensors);
  user_check(found != file.tensors.end(), "{}: there is no tensor '{}'; it has {}{}",
             input.string(), name, fmt::join(names, ", "), did_you_mean(name, names));
  user_check(found->second.count() > 0, "{}: {} has no values", input.string(), name);
  const Tensor x = found->second.cast(DType::f32), y = quantized(x, format, context);
  const auto [low, high] = std::ranges::minmax(x.values<float>());
  user_check(
      std::isfinite(low) && std::isfinite(high) && low < high,
      "{}: the values of {} range from {} to {}; a histogram needs finite values that differ",
      input.string(), name, low, high);
  const std::vector<Point> taken = shares(y.values<float>());
  const std::string shown = fmt::format("rounded, to {} different values", taken.size());
  const Panel panel{.title = fmt::format("{} {}", name, to_string(x.sizes())),
                    .x = {.label = "Value"},
                    .y = {.label = "Share of the values (%)"},
                    .series = {{.label = fmt::format("values, in {} bars", kBars),
                                .points = histogram(x.values<float>(), static_cast<double>(low),
                                                    static_cast<double>(high)),
                                .draw = Draw::steps},
                               {.label = shown, .points = taken, .draw = Draw::points}}};
  write_figure({.title = to_string(format), .panels = {panel}}, stem);
}

}  // namespace hone
