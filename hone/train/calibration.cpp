#include "hone/train/calibration.h"

#include <algorithm>
#include <map>

#include "hone/base/interrupt.h"
#include "hone/data/row_order.h"
#include "hone/passes/prune.h"
#include "hone/passes/quantize.h"
#include "hone/runtime/graph_remainder.h"
#include "hone/runtime/run_passes.h"
#include "hone/tensor/dense.h"
#include "hone/train/memory_check.h"

namespace hone {
namespace {

const Format& format_of(const Node& quantizer) {
  return quantizer.attributes().get<Format>("format");
}

bool reads_parameter(const Node& quantizer) {
  return stored_parameter(quantizer.inputs()[0]) != nullptr;
}

// Returns the quantizers whose formats need to observe values.
std::vector<const Node*> observing_quantizers(const Graph& graph,
                                              const std::set<std::string>& calibrated) {
  std::vector<const Node*> found;
  for (const Node* node : graph.of_kind(NodeKind::operation)) {
    if (!is_quantizer(*node) || calibrated.contains(node->name())) continue;
    const Format& format = format_of(*node);
    if (!states_of(format).empty() || format.def->objection != nullptr) found.push_back(node);
  }
  return found;
}

// Returns the graph with only the calibrated quantizers; the value that each of `quantizers` read is an output under its
// name.
Graph observed_graph(const Graph& graph, const std::vector<const Node*>& quantizers,
                     const std::set<std::string>& calibrated, ParameterStore& parameters,
                     const Session& session) {
  Graph plain = graph;
  plain.clear_outputs();
  for (const Node* quantizer : quantizers)
    plain.set_output(quantizer->name(), plain.find(quantizer->name())->inputs()[0]);
  run_as_pass(plain, session, "remove_quantizers",
              [&] { return remove_quantizers(plain, calibrated); });
  run_passes(plain, parameters, session, {"remove_dropout"});
  return plain;
}

std::map<std::string, Observation> observe_values(const Graph& plain, ParameterStore& parameters,
                                                  const ExampleSource& data,
                                                  const CalibrationRun& run,
                                                  const Session& session) {
  user_check(data.size() > 0, "calibration needs examples: the training split is empty");
  const std::unique_ptr<Executable> executable = session.executable(plain);
  std::map<std::string, Observation> seen;
  const std::vector<std::int64_t> sample = calibration_rows(data.size(), run);
  check_batches(plain, lengths_of(data, sample), run.batch_size, session, parameters,
                " for calibration",
                static_cast<double>(Observation::kBytes * std::ssize(plain.outputs())));
  for (const std::span<const std::int64_t> rows : batches(sample, run.batch_size)) {
    stop_if_interrupted();
    std::vector<std::pair<Observation*, Tensor>> looks;
    for (const auto& [name, tensor] : executable->run(data.batch(rows, 0), parameters))
      looks.emplace_back(&seen[name], dense_on(tensor, cpu()));
    session.pool.run(std::ssize(looks), [&](std::int64_t i) {
      const auto& [observation, tensor] = looks[static_cast<std::size_t>(i)];
      observation->include(tensor.values<float>());
    });
  }
  return seen;
}

// Observes those outputs of `plain` that are missing from `seen`, which is keyed by `value_name`.
void see(std::map<std::string, Observation>& seen, const Graph& plain, ParameterStore& parameters,
         const ExampleSource& data, const CalibrationRun& run, const Session& session) {
  Graph unseen = plain;
  unseen.clear_outputs();
  for (const auto& [quantizer, value] : plain.outputs())
    if (const std::string name = value_name(value); !seen.contains(name))
      unseen.set_output(name, {unseen.find(value.node->name()), value.index});
  if (unseen.outputs().empty()) return;
  run_passes(unseen, parameters, session, {"remove_dead_code"});
  seen.merge(observe_values(unseen, parameters, data, run, session));
}

std::map<std::string, Observation>& known_values(ObservedValues& all, const Graph& plain,
                                                 const ParameterStore& parameters,
                                                 const ExampleSource& data,
                                                 const CalibrationRun& run) {
  Graph bare = plain;
  bare.clear_outputs();
  return all.of(bare, parameters,
                fmt::format("{} texts, {} batches of {}, seed {}", data.size(), run.batch_count,
                            run.batch_size, run.seed));
}

// Returns whether an unsuitable format harms the model; a bias of tiny values may well become zero.
bool matters(const Node& quantizer) {
  return !reads_parameter(quantizer) ||
         stored_parameter(quantizer.inputs()[0])->role() != ParameterRole::bias;
}

// Throws `UserError` if the format of a quantizer objects to the values that it would hold.
void heed_objection(const Node& quantizer, const Observation& seen) {
  const Format& format = format_of(quantizer);
  if (format.def->objection == nullptr || !matters(quantizer)) return;
  const std::string reason = format.def->objection(format, seen);
  user_check(reason.empty(), "%{}: {}: {}; `force` continues anyway", quantizer.name(),
             to_string(format), reason);
}

void set_state(const Node& quantizer, const std::vector<Tensor>& state, ParameterStore& parameters,
               Device& device) {
  for (std::size_t i = 0; i < state.size(); ++i)
    parameters.set(quantizer.inputs()[i + 1].node->name(), state[i].on(device));
}

void calibrate_parameter(const Node& quantizer, const CalibrationRun& run,
                         ParameterStore& parameters, Device& device) {
  const Tensor tensor = stored_values(quantizer.inputs()[0], parameters);
  const auto look = [&](const Observation& seen) {
    if (run.check_objections) heed_objection(quantizer, seen);
  };
  set_state(quantizer,
            calibrate_tensor(format_of(quantizer), tensor.sizes(), tensor.values<float>(),
                             run.options, look),
            parameters, device);
}

void calibrate_value(const Node& quantizer, const Observation& seen, const CalibrationRun& run,
                     ParameterStore& parameters, Device& device) {
  if (run.check_objections) heed_objection(quantizer, seen);
  set_state(quantizer, calibrate(format_of(quantizer), seen, run.options), parameters, device);
}

}  // namespace

std::vector<std::int64_t> calibration_rows(std::int64_t texts, const CalibrationRun& run) {
  return sample_rows(texts, run.batch_size * run.batch_count, run.seed, "calibration");
}

bool calibration_reads_examples(const Graph& graph, const std::set<std::string>& calibrated) {
  return !std::ranges::all_of(observing_quantizers(graph, calibrated),
                              [](const Node* quantizer) { return reads_parameter(*quantizer); });
}

void calibrate(const Graph& graph, ParameterStore& parameters, const ExampleSource& data,
               const CalibrationRun& run, const Session& session,
               const std::set<std::string>& calibrated) {
  parameters = parameters.on(session.device);
  std::vector<const Node*> on_values;
  for (const Node* quantizer : observing_quantizers(graph, calibrated)) {
    if (reads_parameter(*quantizer)) {
      calibrate_parameter(*quantizer, run, parameters, session.device);
    } else {
      on_values.push_back(quantizer);
    }
  }
  if (on_values.empty()) return;
  const Graph plain = observed_graph(graph, on_values, calibrated, parameters, session);
  ObservedValues own;
  std::map<std::string, Observation>& seen =
      known_values(run.observed ? *run.observed : own, plain, parameters, data, run);
  see(seen, plain, parameters, data, run, session);
  std::map<std::string, std::string> read;  // by quantizer
  for (const auto& [quantizer, value] : plain.outputs()) read[quantizer] = value_name(value);
  for (const Node* quantizer : on_values)
    calibrate_value(*quantizer, seen.at(read.at(quantizer->name())), run, parameters,
                    session.device);
}

}  // namespace hone
