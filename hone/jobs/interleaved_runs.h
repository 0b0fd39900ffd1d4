#pragma once

#include <memory>
#include <vector>

#include "hone/runtime/context.h"

namespace hone {

/// Runs graphs in turn and times them (paired_times.h).
///
///     Race race(context);
///     race.add(forward_graph(model), model.parameters);
///     race.add(forward_graph(packed), packed.parameters);
///     const auto ms = race.run(inputs, 20);
///     compare_rounds(ms[0], ms[1]).speedup
class Race {
 public:
  /// The context must outlive it.
  explicit Race(Context& context) : session_(context.session()) {}

  /// Adds a forward graph, prepared for inference.
  void add(Graph graph, ParameterStore parameters);

  /// Returns the times of each graph in milliseconds, round by round. Throws `Interrupted`.
  std::vector<std::vector<double>> run(const NamedTensors& inputs, std::int64_t rounds);

 private:
  struct Runner {
    Graph graph;
    ParameterStore parameters;
    std::unique_ptr<Executable> executable = nullptr;
  };

  Session session_;
  std::vector<std::unique_ptr<Runner>> runners_;  // stable addresses for executables
};

}  // namespace hone
