#include "hone/jobs/native/native_times.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

#include "hone/analysis/cost.h"
#include "hone/base/interrupt.h"
#include "hone/base/random.h"
#include "hone/ir/verify.h"
#include "hone/jobs/device_time.h"
#include "hone/kernels/packed_matrix.h"
#include "hone/passes/dead_code.h"
#include "hone/passes/quantize.h"
#include "hone/runtime/run_passes.h"
#include "hone/train/memory_check.h"
#include "hone/train/predictor.h"
#include "hone/train/text_examples.h"

namespace hone {
namespace {

constexpr const char *kLayerInput = "alone.input", *kLayerOutput = "alone.output";

/// A single layer, ready to run.
struct SingleLayer {
  Graph graph;
  ParameterStore parameters;
  std::string_view arithmetic;
  std::unique_ptr<Executable> executable;

  SingleLayer(const Model& model, const std::string& layer, const Session& session)
      : graph(forward_graph(model)), parameters(model.parameters.on(session.device)) {
    isolate(layer);
    arithmetic = arithmetic_of_run(graph, session);
    prepare_for_inference(graph, parameters, session);
    executable = session.executable(graph);
  }

  void run(const Tensor& x) { executable->run({{kLayerInput, x}}, parameters); }

 private:
  // Replaces what the layer reads, or the quantizer of its input if it has one, by an input of the graph.
  void isolate(const std::string& layer) {
    Node& node = *graph.find(layer);
    Node* reader = &node;
    std::size_t index = 0;
    while (operand_of(node, index) != Operand::input) ++index;
    if (is_quantizer(*node.inputs()[index].node)) {
      reader = node.inputs()[index].node;
      index = 0;
    }
    const Value input = graph.add_input(kLayerInput, reader->inputs()[index].type());
    graph.set_input(*reader, index, input);
    graph.clear_outputs();
    graph.set_output(kLayerOutput, {&node, 0});
    remove_dead_code(graph);
  }
};

Sizes input_sizes(const Graph& graph, const BatchSize& batch) {
  return resolve(graph.find(kLayerInput)->types()[0].shape,
                 {{'B', batch.texts}, {'S', batch.tokens}});
}

Tensor random_values(const Sizes& sizes) {
  RandomSequence random(0, stream_of("inputs of a layer"));
  std::vector<float> values(static_cast<std::size_t>(element_count(sizes)));
  for (float& value : values) value = static_cast<float>(random.normal());
  return Tensor::of<float>(sizes, values);
}

// Kind, operand types and formats of a product. Layers with the same key are timed once.
using ShapeKey = std::tuple<std::string, std::string, std::string, std::string>;
ShapeKey shape_key(const Graph& graph, const std::string& layer, const LayerFormats& formats) {
  const Node& node = *graph.find(layer);
  std::string types;
  for (const Type& type : node.input_types()) types += to_string(type);
  return {std::string(node.op().name), types, formats.input ? to_string(*formats.input) : "",
          formats.weight ? to_string(*formats.weight) : ""};
}

/// Progress through the rounds of several timings.
class Rounds {
 public:
  Rounds(const char* title, std::int64_t rounds, const Context& context)
      : progress_(title, rounds,
                  {.unit = "rounds", .end = ProgressEnd::vanishes, .output = context.progress}) {}
  std::function<void()> count() {
    return [this] { progress_.update(++done_); };
  }

 private:
  Progress progress_;
  std::int64_t done_ = 0;
};

}  // namespace

bool has_native_panels(std::int64_t outputs) { return outputs >= kernels::kPackedRows; }

std::string no_native_product(std::int64_t outputs, std::int64_t inputs) {
  return has_native_panels(outputs)
             ? fmt::format("no native kernel supports {} × {} weights", outputs, inputs)
             : fmt::format("native kernels need at least {} outputs, and it has {}",
                           kernels::kPackedRows, outputs);
}

const Fields& fields_of(const ProductTimes*) {
  using P = ProductTimes;
  static const Fields fields = describe<P>(
      "native_product",
      "Products of one kind and shape: native, with the rounding of the input, and in fp32.",
      field<&P::layers>("layers", "Layers that compute it."),
      field<&P::rows>("rows", "Rows of the input, in a batch of the data."),
      field<&P::inputs>("inputs", "Elements that are summed."),
      field<&P::outputs>("outputs", "Elements of a row of the result."),
      field<&P::times>("times",
                       "Times of one product; before: fp32, after: native. Null: no native kernel "
                       "supports it."));
  return fields;
}

std::vector<ProductTimes> time_products(const Model& model, const Model& native,
                                        const QuantizationPlan& plan, const BatchSize& batch,
                                        Context& context) {
  const Graph graph = unquantized_graph(model);
  std::map<ShapeKey, std::size_t> of_key;
  std::vector<ProductTimes> all;
  for (const auto& [layer, formats] : plan) {
    if (!formats.input) continue;
    const auto [found, is_new] = of_key.try_emplace(shape_key(graph, layer, formats), all.size());
    if (is_new) all.emplace_back();
    all[found->second].layers.push_back(layer);
  }
  const Session session = context.session();
  Rounds rounds("time products", std::ssize(all) * kProductRounds, context);
  for (ProductTimes& one : all) {
    SingleLayer before(model, one.layers.front(), session),
        after(native, one.layers.front(), session);
    const Sizes sizes = input_sizes(before.graph, batch);
    one.inputs = sizes.back();
    one.rows = element_count(sizes) / std::max<std::int64_t>(1, one.inputs);
    one.outputs = before.graph.output(kLayerOutput).type().dim(-1).size;
    if (after.arithmetic == kNative) {
      const Tensor x = random_values(sizes).on(session.device);
      const auto run = [&](SingleLayer& layer) {
        layer.run(x);
        session.device.wait();
      };
      const std::function<void()> works[] = {[&] { run(before); }, [&] { run(after); }};
      run_preparation(works, session.device);
      one.times = time_in_turn(works[0], works[1], kProductRounds, rounds.count());
    }
  }
  return all;
}

std::vector<std::vector<double>> time_layers(const std::vector<Model>& models,
                                             const std::vector<std::string>& layers,
                                             const BatchSize& batch, Context& context) {
  const Graph graph = unquantized_graph(models.front());
  std::map<ShapeKey, std::vector<std::size_t>> alike;
  for (std::size_t i = 0; i < layers.size(); ++i)
    alike[shape_key(graph, layers[i], {})].push_back(i);
  const Session session = context.session();
  Rounds rounds("time layers", std::ssize(alike) * kProductRounds, context);
  std::vector<std::vector<double>> ms(layers.size());
  for (const auto& [key, same] : alike) {
    std::vector<std::unique_ptr<SingleLayer>> alone;
    for (const Model& model : models)
      alone.push_back(std::make_unique<SingleLayer>(model, layers[same.front()], session));
    const Tensor x = random_values(input_sizes(alone.front()->graph, batch)).on(session.device);
    std::vector<std::function<void()>> works;
    for (const auto& layer : alone)
      works.emplace_back([&x, &session, layer = layer.get()] {
        layer->run(x);
        session.device.wait();
      });
    run_preparation(works, session.device);
    for (std::vector<double>& times : rounds_in_turn(works, kProductRounds, rounds.count())) {
      std::ranges::sort(times);
      for (const std::size_t layer : same) ms[layer].push_back(median_of_sorted(times));
    }
  }
  return ms;
}

double median_batch_ms(const Model& model, const EncodedSet& set, Context& context) {
  Predictor predictor(forward_graph(model), model.parameters, context.session());
  std::vector<std::int64_t> rows(static_cast<std::size_t>(set.size()));
  std::iota(rows.begin(), rows.end(), 0);
  check_batches(predictor.graph(), lengths_of(set), set.size(), context.session(),
                predictor.parameters(), " that is timed");
  const NamedTensors batch = text_examples(set).batch(rows, 0);
  const std::function<void()> works[] = {[&] { predictor.rows(batch); }};
  run_preparation(works, context.session().device);
  std::vector<double> ms = rounds_in_turn(works, kProductRounds).front();
  std::ranges::sort(ms);
  return median_of_sorted(ms);
}

}  // namespace hone
