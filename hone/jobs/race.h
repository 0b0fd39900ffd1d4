#pragma once

#include <memory>
#include <vector>

#include "hone/runtime/context.h"

namespace hone {

/// Graphs whose runs take turns (times_in_turn.h).
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

  /// Makes a forward graph ready for inference.
  void add(Graph graph, ParameterStore parameters);

  /// The times of one run of each in milliseconds, round by round. Throws `Interrupted`.
  std::vector<std::vector<double>> run(const NamedTensors& inputs, std::int64_t rounds);

 private:
  struct Runner {
    Graph graph;
    ParameterStore parameters;
    std::unique_ptr<Executable> executable = nullptr;
  };

  Session session_;
  std::vector<std::unique_ptr<Runner>> runners_;  // what an executable refers to must not move
};

}  // namespace hone
