#include "hone/jobs/race.h"

#include <functional>

#include "hone/jobs/times_in_turn.h"

namespace hone {

void Race::add(Graph graph, ParameterStore parameters) {
  runners_.push_back(std::make_unique<Runner>(Runner{std::move(graph), std::move(parameters)}));
  Runner& runner = *runners_.back();
  prepare_for_inference(runner.graph, runner.parameters, session_);
  runner.executable = session_.executable(runner.graph);
}

std::vector<std::vector<double>> Race::run(const NamedTensors& inputs, std::int64_t rounds) {
  std::vector<std::function<void()>> works;
  for (const auto& runner : runners_)
    works.emplace_back([&, one = runner.get()] {
      one->executable->run(inputs, one->parameters);
      session_.device.wait();
    });
  return rounds_in_turn(works, rounds);
}

}  // namespace hone
