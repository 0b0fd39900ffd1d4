#include "hone/study/smooth_scales.h"

#include <algorithm>
#include <cmath>

#include "hone/base/interrupt.h"
#include "hone/formats/calibrate.h"
#include "hone/kernels/gemm.h"
#include "hone/metrics/noise.h"

namespace hone {
namespace {

constexpr double kAlphas[] = {0.25, 0.5, 0.75};
constexpr double kMostExponent = 20;  // far from overflow, and more than any model needs

/// Values as rows along their last axis, on the host.
struct Matrix {
  std::int64_t rows = 0, columns = 0;
  std::vector<float> values;
};

Matrix matrix_of(const Tensor& tensor) {
  const Tensor host = tensor.on(cpu());
  const std::span<const float> values = host.values<float>();
  return {host.size(0), host.size(1), {values.begin(), values.end()}};
}

Matrix rounded(const Matrix& x, const Format& format, const CalibrationOptions& options,
               ThreadPool& pool) {
  const Sizes sizes = {x.rows, x.columns};
  const std::vector<Tensor> state = calibrate_tensor(format, sizes, x.values, options);
  Matrix y = x;
  format.def->quantize({format, sizes, x.values, state}, pool, y.values);
  return y;
}

// X W^T
std::vector<float> product(const Matrix& x, const Matrix& w, ThreadPool& pool) {
  std::vector<float> y(static_cast<std::size_t>(x.rows * w.rows));
  kernels::gemm(pool, {x.rows, w.rows, x.columns}, {x.values.data(), x.columns, 1},
                {w.values.data(), 1, w.columns}, y.data(), w.rows);
  return y;
}

/// One linear of a group with its output in full precision.
struct Linear {
  Matrix weight;
  Format format;
  std::vector<float> output;
};

/// A linear whose rows are divided by the scales, which changes its rounding too.
struct Writer {
  Matrix weight, input;
  Format format;
  std::vector<float> output;
};

/// The rounding error of a group's outputs, as a function of its scales.
struct Trial {
  Matrix input;
  Format input_format;
  std::vector<Linear> linears;
  std::optional<Writer> writer;
  const CalibrationOptions& options;
  ThreadPool& pool;

  // Returns the mean over the linears of noise relative to signal.
  double noise(std::span<const float> scales) const {
    Matrix x = input;
    for (std::size_t i = 0; i < x.values.size(); ++i) x.values[i] /= scales[i % scales.size()];
    const Matrix rounded_x = rounded(x, input_format, options, pool);
    double sum = 0;
    const auto add = [&](const std::vector<float>& before, const std::vector<float>& after) {
      Noise noise;
      noise.include(before, after);
      if (noise.signal > 0) sum += noise.noise / noise.signal;
    };
    for (const Linear& linear : linears) {
      Matrix w = linear.weight;
      for (std::size_t i = 0; i < w.values.size(); ++i) w.values[i] *= scales[i % scales.size()];
      add(linear.output, product(rounded_x, rounded(w, linear.format, options, pool), pool));
    }
    if (writer) {
      Matrix w = writer->weight;
      const auto width = static_cast<std::size_t>(w.columns);
      for (std::size_t i = 0; i < w.values.size(); ++i) w.values[i] /= scales[i / width];
      std::vector<float> y =
          product(writer->input, rounded(w, writer->format, options, pool), pool);
      for (std::size_t i = 0; i < y.size(); ++i) y[i] *= scales[i % scales.size()];
      add(writer->output, y);
    }
    return sum / static_cast<double>(linears.size() + (writer ? 1 : 0));
  }
};

double decibels(double noise) { return -10 * std::log10(noise); }

std::vector<float> scales_for(double alpha, const LayerInput& input,
                              const std::vector<float>& weight_magnitude) {
  std::vector<float> scales;
  for (std::size_t k = 0; k < weight_magnitude.size(); ++k) {
    const auto x = static_cast<double>(input.magnitude[k]),
               w = static_cast<double>(weight_magnitude[k]);
    double exponent = 0;
    if (x > 0 && w > 0) exponent = alpha * std::log2(x) - (1 - alpha) * std::log2(w);
    exponent = std::clamp(std::nearbyint(exponent), -kMostExponent, kMostExponent);
    scales.push_back(static_cast<float>(std::exp2(exponent)));
  }
  return scales;
}

std::vector<float> column_magnitudes(const std::vector<Linear>& linears) {
  std::vector<float> magnitudes(static_cast<std::size_t>(linears.front().weight.columns));
  for (const Linear& linear : linears)
    for (std::size_t i = 0; i < linear.weight.values.size(); ++i) {
      float& largest = magnitudes[i % magnitudes.size()];
      largest = std::max(largest, std::fabs(linear.weight.values[i]));
    }
  return magnitudes;
}

const LayerFormats* formats_of(const QuantizationPlan& plan, const std::string& layer) {
  for (const auto& [name, formats] : plan)
    if (name == layer && formats.input && formats.weight) return &formats;
  return nullptr;
}

Trial trial_of(const SmoothGroup& group, const Model& model, const Graph& graph,
               const QuantizationPlan& plan, const std::map<std::string, LayerInput>& inputs,
               const CalibrationOptions& options, ThreadPool& pool) {
  Trial trial{.input = matrix_of(inputs.at(group.value).sample),
              .input_format = *formats_of(plan, group.linears.front())->input,
              .linears = {},
              .writer = {},
              .options = options,
              .pool = pool};
  for (std::size_t i = 0; i < group.linears.size(); ++i) {
    Linear linear{.weight = matrix_of(model.parameters.at(group.columns[i])),
                  .format = *formats_of(plan, group.linears[i])->weight,
                  .output = {}};
    linear.output = product(trial.input, linear.weight, pool);
    trial.linears.push_back(std::move(linear));
  }
  const LayerFormats* written = group.writer.empty() ? nullptr : formats_of(plan, group.writer);
  if (written == nullptr) return trial;
  Writer writer{.weight = matrix_of(model.parameters.at(group.rows.front())),
                .input = matrix_of(inputs.at(input_name(graph, group.writer)).sample),
                .format = *written->weight,
                .output = {}};
  writer.output = product(writer.input, writer.weight, pool);
  trial.writer = std::move(writer);
  return trial;
}

}  // namespace

std::vector<SmoothScales> choose_smooth_scales(const Model& model, const QuantizationPlan& plan,
                                               const std::map<std::string, LayerInput>& inputs,
                                               const CalibrationOptions& options,
                                               Context& context) {
  const Graph graph = unquantized_graph(model);
  std::set<std::string> linears;
  for (const auto& [name, formats] : plan)
    if (formats_of(plan, name) != nullptr) linears.insert(name);
  std::vector<SmoothScales> all;
  std::vector<SmoothGroup> groups = smooth_groups(graph, linears);
  Progress progress("smooth scales", std::ssize(groups),
                    {.unit = "groups", .end = ProgressEnd::vanishes, .output = context.progress});
  for (SmoothGroup& group : groups) {
    stop_if_interrupted();
    const Trial trial = trial_of(group, model, graph, plan, inputs, options, context.pool);
    const LayerInput& input = inputs.at(group.value);
    const std::vector<float> magnitudes = column_magnitudes(trial.linears);
    const double before = trial.noise(std::vector<float>(magnitudes.size(), 1.0f));
    double best = before;
    SmoothScales result{.group = std::move(group), .scales = {}};
    for (const double alpha : kAlphas) {
      std::vector<float> scales = scales_for(alpha, input, magnitudes);
      const double noise = trial.noise(scales);
      if (noise >= best) continue;
      best = noise;
      result.alpha = alpha;
      result.scales = std::move(scales);
    }
    result.snr_before_db = decibels(before);
    result.snr_after_db = decibels(best);
    const double gain = result.snr_after_db - result.snr_before_db;
    if (!(gain >= (result.group.free() ? kFreeGainDb : kPaidGainDb))) {
      result.alpha = 0;
      result.scales.clear();
    }
    all.push_back(std::move(result));
    progress.update(std::ssize(all));
  }
  return all;
}

}  // namespace hone
