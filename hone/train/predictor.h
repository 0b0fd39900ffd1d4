#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "hone/ir/graph.h"
#include "hone/runtime/session.h"
#include "hone/tensor/parameter_store.h"
#include "hone/train/example_source.h"

namespace hone {

/// Runs a forward graph for its logits over a data set.
///
///     Predictor predictor(std::move(graph), parameters, session);   // dropout removed, weights folded
///     std::vector<float> logits = predictor.logits(source, 64);     // (examples, classes)
///
/// Weights are quantized once, here, not once per batch.
class Predictor {
 public:
  /// `graph` is a forward graph in training mode; outputs other than `logits` are dropped. `parameters` are
  /// copied to the session's device (sharing what is there and does not change).
  Predictor(Graph graph, const ParameterStore& parameters, const Session& session);
  ~Predictor();
  Predictor(Predictor&&) noexcept;

  /// Logits of all examples, (examples, classes), in the order of `data`. Examples are batched by length, the
  /// longest first, so that little is padded. `on_progress` is told how many are done.
  std::vector<float> logits(const ExampleSource& data, std::int64_t batch_size,
                            const std::function<void(std::int64_t)>& on_progress = {});
  /// Logits of one batch as it stands, (batch, classes).
  std::vector<float> logits(const NamedTensors& batch);
  std::int64_t classes() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hone
