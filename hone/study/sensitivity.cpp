#include "hone/study/sensitivity.h"

#include <algorithm>

#include "hone/analysis/precision.h"
#include "hone/base/interrupt.h"
#include "hone/data/row_order.h"
#include "hone/ops/list.h"
#include "hone/ops/reference.h"
#include "hone/passes/dead_code.h"
#include "hone/passes/quantize.h"
#include "hone/passes/remove_dropout.h"
#include "hone/runtime/interpreter.h"
#include "hone/tensor/dense.h"
#include "hone/train/memory_check.h"
#include "hone/train/text_examples.h"

namespace hone {
namespace {

// A comparison on every batch: two outputs of the graph.
struct Probe {
  std::string before;
  std::string after;
  bool of_parameter = false;  // the same on every batch
  OperandNoise result;
};

/// A graph in which every layer of a plan has a quantized twin that reads the same inputs. Nothing reads the twin.
class TwinGraph {
 public:
  TwinGraph(Graph graph, const QuantizationPlan& plan) : graph_(std::move(graph)) {
    graph_.clear_outputs();
    for (const auto& [name, formats] : plan) add_twin(name, formats);
    remove_dropout(graph_);
    remove_dead_code(graph_);
  }
  const Graph& graph() const { return graph_; }
  std::vector<Probe>& probes() { return probes_; }

 private:
  void add_twin(const std::string& name, const LayerFormats& formats) {
    Node* layer = graph_.find(name);
    user_check(layer != nullptr, "the graph has no operation '{}'", name);
    std::vector<Value> inputs;
    for (std::size_t i = 0; i < layer->inputs().size(); ++i) {
      const std::optional<Operand> operand = operand_of(*layer, i);
      const Value value = layer->inputs()[i];
      const bool quantized = operand && formats[*operand];
      inputs.push_back(quantized ? add_quantizer(*layer, i, *operand, *formats[*operand]) : value);
    }
    Value twin = graph_.add(layer->op().name, inputs, layer->attributes(), name + ".twin");
    if (formats.output) twin = quantized(twin, name + ".twin.output", *formats.output);
    probe({layer, 0}, twin, {name, Operand::output, formats.output.value_or(Format{}), {}});
  }

  Value add_quantizer(const Node& layer, std::size_t index, Operand operand, const Format& format) {
    const Value value = layer.inputs()[index];
    const std::string name = fmt::format("{}.twin.{}{}", layer.name(), to_string(operand), index);
    const Value result = quantized(value, name, format);
    probe(value, result, {layer.name(), operand, format, {}});
    return result;
  }

  Value quantized(Value value, const std::string& name, const Format& format) {
    std::vector<Value> inputs = {value};
    const std::vector<Type> types = state_types(format, value.type());
    for (std::size_t i = 0; i < types.size(); ++i)
      inputs.push_back(
          graph_.add_parameter(fmt::format("{}.quantizer.{}", name, states_of(format)[i].name),
                               types[i], ParameterRole::format_state, false));
    return graph_.add(kQuantizer, inputs, {{"format", format}}, name);
  }

  void probe(Value before, Value after, OperandNoise result) {
    const std::string name = std::to_string(probes_.size());
    graph_.set_output(name + ".before", before);
    graph_.set_output(name + ".after", after);
    probes_.push_back({name + ".before", name + ".after",
                       before.node->kind() == NodeKind::parameter, std::move(result)});
  }

  Graph graph_;
  std::vector<Probe> probes_;
};

// Calls body(outputs) for the batches of calibration, until it returns false.
template <typename Body>
void for_batches(const Graph& graph, ParameterStore& parameters, const EncodedSet& data,
                 const CalibrationRun& run, Context& context, Body&& body) {
  user_check(data.size() > 0, "nothing to measure: the training split is empty");
  const Session session = context.session();
  parameters = parameters.on(session.device);
  const std::unique_ptr<Executable> executable = session.executable(graph);
  const ExampleSource source = text_examples(data);
  const std::vector<std::int64_t> sample = calibration_rows(data.size(), run);
  check_batches(graph, lengths_of(source, sample), run.batch_size, session, parameters,
                " for calibration");
  for (const std::span<const std::int64_t> rows : batches(sample, run.batch_size)) {
    stop_if_interrupted();
    if (!body(executable->run(source.batch(rows, 0), parameters))) break;
  }
}

}  // namespace

std::vector<OperandNoise> measure_noise(const Model& model, const QuantizationPlan& plan,
                                        const EncodedSet& data, const CalibrationRun& run,
                                        Context& context) {
  TwinGraph twins(forward_graph(model), plan);
  ParameterStore parameters = model.parameters;
  CalibrationRun heedless = run;
  heedless.check_objections = false;
  calibrate(twins.graph(), parameters, text_examples(data), heedless, context.session(),
            quantizer_names(model.graph));
  bool first = true;
  for_batches(twins.graph(), parameters, data, run, context, [&](const NamedTensors& outputs) {
    struct Look {
      Noise* noise;
      Tensor before, after;
    };
    std::vector<Look> looks;
    for (Probe& probe : twins.probes())
      if (first || !probe.of_parameter)
        looks.push_back({&probe.result.noise, dense_on(outputs.at(probe.before), cpu()),
                         dense_on(outputs.at(probe.after), cpu())});
    context.pool.run(std::ssize(looks), [&](std::int64_t i) {
      const Look& look = looks[static_cast<std::size_t>(i)];
      look.noise->include(look.before.values<float>(), look.after.values<float>());
    });
    first = false;
    return true;
  });
  std::vector<OperandNoise> results;
  for (Probe& probe : twins.probes()) results.push_back(std::move(probe.result));
  return results;
}

std::vector<OperandSample> sample_operands(const Model& model, const QuantizationPlan& plan,
                                           const EncodedSet& data, const CalibrationRun& run,
                                           std::int64_t most_values, Context& context) {
  Graph graph = forward_graph(model);
  graph.clear_outputs();
  remove_dropout(graph);
  std::vector<OperandSample> samples;
  std::map<std::string, std::vector<std::size_t>> wanted;  // output -> samples
  for (const PlannedTensor& tensor : planned_tensors(graph, plan, {{'B', 1}, {'S', 1}})) {
    OperandSample sample{tensor.layer, tensor.operand, {}};
    if (model.parameters.contains(tensor.tensor)) {
      sample.values = model.parameters.at(tensor.tensor).on(cpu());
    } else {
      graph.set_output(tensor.tensor, {graph.find(tensor.tensor), 0});
      wanted[tensor.tensor].push_back(samples.size());
    }
    samples.push_back(std::move(sample));
  }
  remove_dead_code(graph);
  ParameterStore parameters = model.parameters;
  std::map<std::string, std::vector<float>> gathered;
  std::map<std::string, std::int64_t> columns;
  if (!wanted.empty()) {
    for_batches(graph, parameters, data, run, context, [&](const NamedTensors& outputs) {
      bool more = false;
      for (const auto& [name, tensor] : outputs) {
        const Tensor values = dense_on(tensor, cpu());
        const Rows rows = rows_of(values.sizes());
        std::vector<float>& all = gathered[name];
        // Rows as long as the texts of a batch (of scores) must have one length: that of the first batch.
        const std::int64_t width = columns.try_emplace(name, rows.columns).first->second;
        const std::int64_t room = std::max<std::int64_t>(1, most_values / width) -
                                  static_cast<std::int64_t>(all.size()) / width;
        if (rows.columns != width) {
          more = more || room > 0;
          continue;
        }
        const auto taken =
            static_cast<std::size_t>(std::clamp<std::int64_t>(room, 0, rows.count) * rows.columns);
        all.insert(all.end(), values.values<float>().begin(),
                   values.values<float>().begin() + static_cast<std::ptrdiff_t>(taken));
        more = more || room > rows.count;
      }
      return more;
    });
  }
  for (const auto& [name, indices] : wanted) {
    const auto count = static_cast<std::int64_t>(gathered[name].size());
    const Tensor values = Tensor::of<float>({count / columns[name], columns[name]}, gathered[name]);
    for (const std::size_t index : indices) samples[index].values = values;
  }
  return samples;
}

}  // namespace hone
