#include "hone/jobs/interleaved_runs.h"

#include <functional>

#include "hone/jobs/device_time.h"
#include "hone/jobs/paired_times.h"
#include "hone/train/memory_check.h"

namespace hone {
namespace {

// Returns the sizes of the graph's symbols with these inputs.
Bindings extents_of(const Graph& graph, const NamedTensors& inputs) {
  Bindings bindings;
  for (const Node* node : graph.of_kind(NodeKind::input))
    if (const auto found = inputs.find(node->name()); found != inputs.end())
      bind_symbols(node->types()[0].shape, found->second.sizes(), node->name(), bindings);
  return bindings;
}

}  // namespace

void Race::add(Graph graph, ParameterStore parameters) {
  runners_.push_back(std::make_unique<Runner>(Runner{std::move(graph), std::move(parameters)}));
  Runner& runner = *runners_.back();
  prepare_for_inference(runner.graph, runner.parameters, session_);
  runner.executable = session_.executable(runner.graph);
}

std::vector<std::vector<double>> Race::run(const NamedTensors& inputs, std::int64_t rounds) {
  std::vector<PlannedRuns> runs;
  for (const auto& runner : runners_)
    runs.push_back({runner->graph, extents_of(runner->graph, inputs), runner->parameters});
  predict_together(runs, session_);
  // Timed runs do not copy inputs to another device.
  NamedTensors there;
  for (const auto& [name, tensor] : inputs) there.emplace(name, tensor.on(session_.device));
  std::vector<std::function<void()>> works;
  for (const auto& runner : runners_) {
    works.emplace_back(
        [&there, one = runner.get()] { one->executable->run(there, one->parameters); });
    for (int i = 0; i < preparation_runs(session_.device); ++i) works.back()();
  }
  return rounds_in_turn(works, rounds, {}, clock_of(session_.device));
}

}  // namespace hone
