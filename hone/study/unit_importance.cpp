#include "hone/study/unit_importance.h"

#include <cmath>

#include "hone/autodiff/gradients.h"
#include "hone/base/interrupt.h"
#include "hone/data/row_order.h"
#include "hone/passes/dead_code.h"
#include "hone/runtime/run_passes.h"
#include "hone/tensor/dense.h"
#include "hone/train/memory_check.h"

namespace hone {
namespace {

// The gradients of what reads units, as outputs called as the linears.
Graph gradient_graph(const Model& model, const std::vector<UnitGroup>& groups,
                     ParameterStore& parameters, const Session& session) {
  Graph graph = model.graph;
  const Value loss = graph.output("loss");
  run_passes(graph, parameters, session, {"remove_dropout"});
  std::vector<Value> weights;
  for (const UnitGroup& group : groups)
    weights.push_back(graph.find(group.reader->name())->inputs()[1]);
  const std::vector<Value> gradients = add_gradients(graph, loss, weights);
  graph.clear_outputs();
  for (std::size_t i = 0; i < groups.size(); ++i) {
    user_check(static_cast<bool>(gradients[i]), "the loss does not depend on %{}",
               groups[i].reader->name());
    graph.set_output(groups[i].reader->name(), gradients[i]);
  }
  remove_dead_code(graph);
  return graph;
}

// The sum of w times its gradient over the columns of each unit; both (N, count width).
std::vector<double> gate_gradients(const UnitGroup& group, const Tensor& weight,
                                   const Tensor& gradient) {
  std::vector<double> sums(static_cast<std::size_t>(group.count));
  const std::span<const float> w = weight.values<float>(), g = gradient.values<float>();
  const auto columns = static_cast<std::size_t>(group.count * group.width);
  for (std::size_t i = 0; i < w.size(); ++i)
    sums[i % columns / static_cast<std::size_t>(group.width)] +=
        static_cast<double>(w[i]) * static_cast<double>(g[i]);
  return sums;
}

void divide_by_norm(std::vector<double>& scores) {
  double squares = 0;
  for (const double score : scores) squares += score * score;
  if (squares > 0)
    for (double& score : scores) score /= std::sqrt(squares);
}

}  // namespace

std::map<std::string, std::vector<double>> unit_importance(const Model& model,
                                                           const std::vector<UnitGroup>& groups,
                                                           const ExampleSource& data,
                                                           const CalibrationRun& run,
                                                           const Session& session) {
  user_check(data.size() > 0,
             "first_order asks the loss on training texts, and the training part has none");
  ParameterStore parameters = model.parameters.on(session.device);
  const Graph graph = gradient_graph(model, groups, parameters, session);
  const std::unique_ptr<Executable> executable = session.executable(graph);
  std::map<std::string, std::vector<double>> importance;
  for (const UnitGroup& group : groups)
    importance[group.reader->name()].resize(static_cast<std::size_t>(group.count));
  const std::vector<std::int64_t> sample = calibration_rows(data.size(), run);
  check_batches(graph, lengths_of(data, sample), run.batch_size, session, parameters,
                " for calibration");
  for (const std::span<const std::int64_t> rows : batches(sample, run.batch_size)) {
    stop_if_interrupted();
    const NamedTensors gradients = executable->run(data.batch(rows, 0), parameters);
    for (const UnitGroup& group : groups) {
      const std::string& name = group.reader->name();
      const std::vector<double> gates = gate_gradients(
          group, model.parameters.at(group.reader->inputs()[1].node->name()).on(cpu()),
          dense_on(gradients.at(name), cpu()));
      for (std::size_t i = 0; i < gates.size(); ++i) importance[name][i] += std::abs(gates[i]);
    }
  }
  for (auto& [name, scores] : importance) divide_by_norm(scores);
  return importance;
}

}  // namespace hone
