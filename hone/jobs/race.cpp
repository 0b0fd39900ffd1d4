#include "hone/jobs/race.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "hone/base/interrupt.h"

namespace hone {

void Race::add(Graph graph, ParameterStore parameters) {
  runners_.push_back(std::make_unique<Runner>(Runner{std::move(graph), std::move(parameters)}));
  Runner& runner = *runners_.back();
  prepare_for_inference(runner.graph, runner.parameters, session_);
  runner.executable = session_.executable(runner.graph);
}

std::vector<std::vector<double>> Race::run(const NamedTensors& inputs, std::int64_t runs) {
  for (const auto& runner : runners_)
    for (int i = 0; i < 2; ++i) time(*runner, inputs);
  for (std::int64_t i = 0; i < runs; ++i) {
    for (const auto& runner : runners_) runner->times.push_back(time(*runner, inputs));
    stop_if_interrupted();
  }
  std::vector<std::vector<double>> all;
  for (const auto& runner : runners_) {
    std::ranges::sort(runner->times);
    all.push_back(std::exchange(runner->times, {}));
  }
  return all;
}

double Race::time(Runner& runner, const NamedTensors& inputs) {
  const auto start = std::chrono::steady_clock::now();
  runner.executable->run(inputs, runner.parameters);
  session_.device.wait();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
      .count();
}

double median_of(const std::vector<double>& rising) {
  const std::size_t half = rising.size() / 2;
  return rising.size() % 2 == 1 ? rising[half] : (rising[half - 1] + rising[half]) / 2;
}

}  // namespace hone
