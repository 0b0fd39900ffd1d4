#include "hone/train/observed_gradients.h"

#include <cmath>

#include "hone/autodiff/gradients.h"
#include "hone/base/interrupt.h"
#include "hone/data/row_order.h"
#include "hone/passes/dead_code.h"
#include "hone/passes/prune.h"
#include "hone/runtime/run_passes.h"
#include "hone/tensor/dense.h"
#include "hone/train/memory_check.h"

namespace hone {
namespace {

// Returns the graph whose outputs are the gradients of parameters, under the names of these.
Graph gradient_graph(Graph graph, const std::vector<std::string>& names, ParameterStore& parameters,
                     const Session& session, std::string_view method) {
  run_passes(graph, parameters, session, {"remove_dropout"});
  std::vector<Value> read;
  for (const std::string& name : names) read.push_back({graph.find(name), 0});
  const std::vector<Value> gradients = with_context(fmt::format("`method` {}", method), [&] {
    return add_gradients(graph, graph.output("loss"), read);
  });
  graph.clear_outputs();
  for (std::size_t i = 0; i < names.size(); ++i) {
    user_check(static_cast<bool>(gradients[i]),
               "`method` {}: the loss does not depend on {}; exclude it from `target`", method,
               names[i]);
    graph.set_output(names[i], gradients[i]);
  }
  remove_dead_code(graph);
  return graph;
}

}  // namespace

void observe_gradients(const Graph& graph, const std::vector<std::string>& names,
                       ParameterStore& parameters, const ExampleSource& data,
                       const CalibrationRun& run, const Session& session, double beside,
                       std::string_view method,
                       const std::function<void(const std::string&, const Tensor&)>& body) {
  user_check(data.size() > 0,
             "`method` {} reads training examples, and the training split is empty", method);
  parameters = parameters.on(session.device);
  const Graph gradients = gradient_graph(graph, names, parameters, session, method);
  const std::unique_ptr<Executable> executable = session.executable(gradients);
  const std::vector<std::int64_t> sample = calibration_rows(data.size(), run);
  check_batches(gradients, lengths_of(data, sample), run.batch_size, session, parameters,
                " for calibration", beside);
  for (const std::span<const std::int64_t> rows : batches(sample, run.batch_size)) {
    stop_if_interrupted();
    for (const auto& [name, gradient] : executable->run(data.batch(rows, 0), parameters))
      body(name, dense_on(gradient, cpu()));
  }
}

std::map<std::string, Tensor> absolute_gradients(
    const Graph& graph, const std::vector<std::string>& target, ParameterStore& parameters,
    const ExampleSource& data, const CalibrationRun& run, const Session& session) {
  std::vector<std::string> names;
  std::map<std::string, std::vector<double>> sums;
  double bytes = 0;
  for (const Node* weight : prunable_weights(graph, target)) {
    names.push_back(weight->name());
    bytes += sizeof(double) * static_cast<double>(parameters.at(weight->name()).count());
  }
  observe_gradients(graph, names, parameters, data, run, session, bytes, "first_order",
                    [&](const std::string& name, const Tensor& gradient) {
                      const std::span<const float> values = gradient.values<float>();
                      std::vector<double>& sum = sums[name];
                      sum.resize(values.size());  // on the first call
                      for (std::size_t i = 0; i < values.size(); ++i)
                        sum[i] += std::abs(static_cast<double>(values[i]));
                    });
  std::map<std::string, Tensor> all;
  for (const auto& [name, sum] : sums)
    all.emplace(name, Tensor::of<float>(parameters.at(name).sizes(),
                                        std::vector<float>(sum.begin(), sum.end())));
  return all;
}

}  // namespace hone
