#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "hone/data/row_order.h"
#include "hone/jobs/fine_tune.h"
#include "hone/passes/remove_dropout.h"
#include "hone/runtime/interpreter.h"
#include "hone/train/calibration.h"
#include "hone/train/text_examples.h"
#include "tests/support/tiny_model.h"

/// Helpers for tests of jobs and formats.
namespace hone::testing {

/// Returns a context with one thread that prints nothing to standard error.
inline Context& quiet_context() {
  static Context quiet(/*threads=*/1, /*quiet=*/true);
  return quiet;
}

inline Format format_called(std::string_view text) {
  return parse_format(text, quiet_context().library.formats);
}

inline const EncodedSplits& tiny_splits() {
  static const EncodedSplits splits{tiny_texts(32), {}, tiny_texts(40, 2)};
  return splits;
}

/// Like tiny_splits, with a validation split of 40 texts for choices, and 24 texts to report.
inline const EncodedSplits& choice_splits() {
  static const EncodedSplits splits = [] {
    EncodedSplits parts{tiny_texts(32), tiny_texts(40, 2), tiny_texts(24, 3)};
    parts.measured.facts.split = "test";
    return parts;
  }();
  return splits;
}

/// Returns the tiny model with its biases set to `bias`, except those of LayerNorm.
inline Model biased_tiny_model(float bias) {
  Model model = tiny_model();
  for (const auto& [name, tensor] : model.parameters.tensors())
    if (name.ends_with(".bias") && name.find("LayerNorm") == std::string::npos)
      model.parameters.set(
          name,
          Tensor::of<float>(tensor.sizes(),
                            std::vector<float>(static_cast<std::size_t>(tensor.count()), bias)));
  return model;
}

/// Returns normally distributed values.
inline std::vector<float> normal_values(std::size_t count, double deviation,
                                        std::string_view stream = "normal values") {
  RandomSequence random(1, stream_of(stream));
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(deviation * random.normal());
  return values;
}

/// Returns the values rounded to integer(width,frac): multiples of 2^-frac in two's complement.
inline std::vector<float> in_fixed_point(const std::vector<float>& x, int width, int frac) {
  const double step = std::ldexp(1.0, -frac), half = std::ldexp(1.0, width - 1);
  std::vector<float> y;
  for (const float value : x)
    y.push_back(
        static_cast<float>(step * std::clamp(std::nearbyint(value / step), -half, half - 1)));
  return y;
}

/// Returns Σ (y - x)².
inline double squared_error(const std::vector<float>& x, const std::vector<float>& y) {
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += std::pow(static_cast<double>(y[i]) - x[i], 2);
  return sum;
}

/// Returns Σ x².
inline double energy(const std::vector<float>& x) {
  return squared_error(x, std::vector<float>(x.size(), 0));
}

/// The first input and the output of a layer of the unquantized model, for each calibration batch.
struct LayerRun {
  std::vector<std::vector<float>> inputs, outputs;
};
inline LayerRun plain_run(const Model& model, const std::string& layer, const EncodedSet& data,
                          std::int64_t batch_size, std::int64_t batch_count) {
  Graph graph = unquantized_graph(model);
  remove_dropout(graph);
  graph.clear_outputs();
  graph.set_output("input", graph.find(layer)->inputs()[0]);
  graph.set_output("output", {graph.find(layer), 0});
  ThreadPool pool(1);
  Interpreter interpreter(graph, builtin(), pool);
  ParameterStore parameters = model.parameters;
  LayerRun run;
  const std::vector<std::int64_t> sample =
      calibration_rows(data.size(), {.batch_size = batch_size, .batch_count = batch_count});
  for (const std::span<const std::int64_t> rows : batches(sample, batch_size)) {
    const NamedTensors outputs = interpreter.run(text_examples(data).batch(rows, 0), parameters);
    run.inputs.push_back(floats_of(outputs.at("input")));
    run.outputs.push_back(floats_of(outputs.at("output")));
  }
  return run;
}

}  // namespace hone::testing
