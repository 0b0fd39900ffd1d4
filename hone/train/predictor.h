#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "hone/ir/graph.h"
#include "hone/runtime/session.h"
#include "hone/tensor/parameter_store.h"
#include "hone/train/example_source.h"

namespace hone {

/// Runs a forward graph over a dataset and returns its output, one row per example: logits, or an embedding.
///
///     Predictor predictor(std::move(graph), parameters, session);   // dropout removed, weights folded
///     std::vector<float> logits = predictor.rows(source, 64);       // (examples, classes)
///
/// Weights are quantized once, in the constructor, not once per batch.
class Predictor {
 public:
  /// `graph` is a forward graph in training mode with one output, f32[B, W]. `parameters` are copied to the session's
  /// device; unchanged tensors already there are shared.
  Predictor(Graph graph, const ParameterStore& parameters, const Session& session);
  ~Predictor();
  Predictor(Predictor&&) noexcept;

  /// Returns rows of all examples, (examples, W), in the order of `data`. Examples are batched by length, the longest
  /// first, to minimize padding. Calls `on_progress` with the number done.
  std::vector<float> rows(const ExampleSource& data, std::int64_t batch_size,
                          const std::function<void(std::int64_t)>& on_progress = {});
  /// Returns rows of one batch, unchanged, (batch, W).
  std::vector<float> rows(const NamedTensors& batch);
  /// Returns the graph that runs: without dropout, attention fused, weights folded.
  const Graph& graph() const;
  /// Returns the parameters that it reads, including precomputed ones.
  const ParameterStore& parameters() const;
  /// Returns the length W of a row.
  std::int64_t width() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hone
