#pragma once

#include <memory>
#include <vector>

#include "hone/runtime/context.h"

namespace hone {

/// Graphs whose runs take turns, so that all of them see the same machine.
///
///     Race race(context);
///     race.add(forward_graph(model), model.parameters);
///     race.add(forward_graph(packed), packed.parameters);
///     const auto times = race.run(inputs, 20);   // times[1].front() / times[0].front()
class Race {
 public:
  /// The context must outlive it.
  explicit Race(Context& context) : session_(context.session()) {}

  /// Makes a forward graph ready for inference.
  void add(Graph graph, ParameterStore parameters);

  /// The times of `runs` runs of each in milliseconds, rising, after two that are not counted. Throws `Interrupted`.
  std::vector<std::vector<double>> run(const NamedTensors& inputs, std::int64_t runs);

 private:
  struct Runner {
    Graph graph;
    ParameterStore parameters;
    std::unique_ptr<Executable> executable = nullptr;
    std::vector<double> times = {};
  };
  double time(Runner& runner, const NamedTensors& inputs);

  Session session_;
  std::vector<std::unique_ptr<Runner>> runners_;  // what an executable refers to must not move
};

/// Of times that rise, one at least.
double median_of(const std::vector<double>& rising);

}  // namespace hone
