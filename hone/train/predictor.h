#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "hone/ir/graph.h"
#include "hone/runtime/session.h"
#include "hone/tensor/parameter_store.h"
#include "hone/train/example_source.h"

namespace hone {

/// Runs a forward graph over a data set for its output, which has a row for each example: logits, or an embedding.
///
///     Predictor predictor(std::move(graph), parameters, session);   // dropout removed, weights folded
///     std::vector<float> logits = predictor.rows(source, 64);       // (examples, classes)
///
/// Weights are quantized once, here, not once per batch.
class Predictor {
 public:
  /// `graph` is a forward graph in training mode with one output, f32[B, W]. `parameters` are copied to the session's device (sharing what is there and does not change).
  Predictor(Graph graph, const ParameterStore& parameters, const Session& session);
  ~Predictor();
  Predictor(Predictor&&) noexcept;

  /// Rows of all examples, (examples, W), in the order of `data`. Examples are batched by length, the
  /// longest first, so that little is padded. `on_progress` is told how many are done.
  std::vector<float> rows(const ExampleSource& data, std::int64_t batch_size,
                          const std::function<void(std::int64_t)>& on_progress = {});
  /// Rows of one batch as it stands, (batch, W).
  std::vector<float> rows(const NamedTensors& batch);
  /// What is run: the graph without dropout, attention fused, weights folded.
  const Graph& graph() const;
  /// What it reads, with what was computed once.
  const ParameterStore& parameters() const;
  /// Numbers in a row: W.
  std::int64_t width() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hone
