#pragma once

#include "hone/jobs/bench.h"

namespace hone {

/// What a benchmark of a model runs again and again: a training step or an inference on random ids without padding.
struct BenchWork {
  Model model;           ///< without its parameters
  BenchOptions options;  ///< what is left to know of them: adapters are trained
  Graph graph;
  ParameterStore parameters = {};
  NamedTensors inputs = {};
  Bindings bindings = {};
  std::int64_t step = 0;

  /// The next run, of an executable of the graph.
  void run(Executable& executable);
};

/// The model called so, see `BenchJob::model`. Throws `UserError`.
Model bench_model(const std::string& source, const std::string& adapter, std::uint64_t seed,
                  Context& context);

/// Texts of random tokens of the model's, without padding, with labels of its task.
EncodedSet random_texts(const Model& model, std::int64_t count, std::int64_t tokens);

/// Throws `UserError` as `bench`.
BenchWork bench_work(Model model, const std::string& name, const BenchOptions& options,
                     Context& context);

}  // namespace hone
