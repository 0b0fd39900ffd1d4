#include "hone/study/layer_inputs.h"

#include <algorithm>
#include <cmath>

#include "hone/base/interrupt.h"
#include "hone/base/random.h"
#include "hone/passes/dead_code.h"
#include "hone/passes/quantize.h"
#include "hone/passes/remove_dropout.h"
#include "hone/tensor/dense.h"
#include "hone/train/memory_check.h"
#include "hone/train/text_examples.h"

namespace hone {
namespace {

constexpr std::int64_t kSampleRows = 512;

// Returns the unquantized graph with the layers' inputs as its outputs.
Graph observed(const Model& model, const std::vector<std::string>& layers) {
  Graph graph = unquantized_graph(model);
  graph.clear_outputs();
  for (const std::string& layer : layers) {
    const std::string name = input_name(graph, layer);
    graph.set_output(name, {graph.find(name), 0});
  }
  remove_dropout(graph);
  remove_dead_code(graph);
  return graph;
}

/// Collects the rows of one value, text by text.
class Gatherer {
 public:
  explicit Gatherer(std::int64_t texts)
      : from_each_(std::max<std::int64_t>(1, kSampleRows / std::max<std::int64_t>(1, texts))) {}

  void include(const Tensor& values, RandomSequence& random) {
    const Rows shape = rows_of(values.sizes());
    const std::span<const float> x = values.values<float>();
    const auto width = static_cast<std::size_t>(shape.columns);
    input_.mean.resize(width);
    input_.magnitude.resize(width);
    for (std::size_t i = 0; i < x.size(); ++i) {
      input_.mean[i % width] += static_cast<double>(x[i]);
      input_.magnitude[i % width] = std::max(input_.magnitude[i % width], std::fabs(x[i]));
    }
    input_.rows += shape.count;
    for (std::int64_t i = 0; i < std::min(from_each_, shape.count); ++i) {
      if (std::ssize(sample_) >= kSampleRows * shape.columns) return;
      const std::uint64_t row = random.below(static_cast<std::uint64_t>(shape.count));
      const auto at = x.begin() + static_cast<std::ptrdiff_t>(row * width);
      sample_.insert(sample_.end(), at, at + shape.columns);
    }
  }
  // Returns the size of the samples of all outputs of a graph.
  static double bytes_of(const Graph& graph) {
    double bytes = 0;
    for (const auto& [name, value] : graph.outputs())
      bytes += static_cast<double>(kSampleRows * value.type().dim(-1).size) * sizeof(float);
    return bytes;
  }
  LayerInput take() {
    for (double& sum : input_.mean) sum /= static_cast<double>(input_.rows);
    const auto width = std::ssize(input_.mean);
    input_.sample = Tensor::of<float>({std::ssize(sample_) / width, width}, sample_);
    return std::move(input_);
  }

 private:
  std::int64_t from_each_;
  LayerInput input_;
  std::vector<float> sample_;
};

}  // namespace

std::string input_name(const Graph& graph, const std::string& layer) {
  const Node& node = *graph.find(layer);
  for (std::size_t i = 0; i < node.inputs().size(); ++i) {
    if (operand_of(node, i) != Operand::input) continue;
    const Node* read = node.inputs()[i].node;
    while (is_quantizer(*read)) read = read->inputs()[0].node;
    return read->name();
  }
  fail("%{} reads no input", layer);
}

std::map<std::string, LayerInput> observe_inputs(const Model& model,
                                                 const std::vector<std::string>& layers,
                                                 const EncodedSet& texts, const CalibrationRun& run,
                                                 Context& context) {
  std::map<std::string, LayerInput> inputs;
  if (layers.empty()) return inputs;
  user_check(texts.size() > 0, "no inputs to observe: the training split is empty");
  const Graph graph = observed(model, layers);
  const Session session = context.session();
  ParameterStore parameters = model.parameters.on(session.device);
  const std::unique_ptr<Executable> executable = session.executable(graph);
  const ExampleSource source = text_examples(texts);
  const std::vector<std::int64_t> sample = calibration_rows(texts.size(), run);
  check_batches(graph, lengths_of(source, sample), /*batch_size=*/1, session, parameters,
                " for calibration", Gatherer::bytes_of(graph));
  std::map<std::string, Gatherer> gatherers;
  RandomSequence random(run.seed, stream_of("rows of inputs"));
  Progress progress("observe inputs", std::ssize(sample),
                    {.unit = std::string(texts.noun()),
                     .end = ProgressEnd::vanishes,
                     .output = context.progress});
  for (std::size_t i = 0; i < sample.size(); ++i) {
    stop_if_interrupted();
    const NamedTensors values =
        executable->run(source.batch(std::span(sample).subspan(i, 1), 0), parameters);
    for (const auto& [name, tensor] : values)
      gatherers.try_emplace(name, std::ssize(sample))
          .first->second.include(dense_on(tensor, cpu()), random);
    progress.update(static_cast<std::int64_t>(i) + 1);
  }
  for (auto& [name, gatherer] : gatherers) inputs.emplace(name, gatherer.take());
  return inputs;
}

}  // namespace hone
