#pragma once

#include <functional>
#include <string>

#include "hone/base/thread_pool.h"
#include "hone/ir/graph.h"
#include "hone/runtime/library.h"
#include "hone/tensor/parameter_store.h"
#include "hone/text/batching.h"
#include "hone/train/optimizer.h"

namespace hone {

/// What a training run is; the defaults are those of Hugging Face's Trainer.
struct TrainingOptions {
  AdamWOptions optimizer = {};
  double epochs = 1;           ///< may be a fraction
  std::int64_t max_steps = 0;  ///< if positive, the number of steps instead of `epochs`
  std::int64_t batch_size = 8;
  std::int64_t warmup_steps = 0;
  std::uint64_t seed = 42;  ///< of the order of the examples and of dropout
  bool shuffle = true;
  bool group_by_length =
      false;  ///< texts of like length share a batch (see batching.h); for shuffled runs
  std::int64_t logging_steps = 500;
  std::int64_t eval_steps = 0;  ///< 0: after every epoch
};

/// Means over the steps since the last record.
struct StepRecord {
  std::int64_t step = 0;  ///< finished steps
  double epoch = 0;
  double loss = 0;
  double grad_norm = 0;      ///< of the last step, before clipping
  double learning_rate = 0;  ///< of the last step
};

struct TrainingCallbacks {
  std::function<void(const StepRecord&)> on_step =
      {};  ///< after every step, with that step's figures
  std::function<void(const StepRecord&)> on_log = {};  ///< every `logging_steps`, and at the end
  /// After every epoch or `eval_steps`; the parameters may be read and evaluated, not changed.
  std::function<void(const StepRecord&, const ParameterStore&)> on_evaluate = {};
};

struct TrainingResult {
  std::int64_t steps = 0;
  std::int64_t examples = 0;
  double seconds = 0;
  double mean_loss = 0;
};

/// The number of steps `options` ask for on `examples` examples.
std::int64_t total_steps(const TrainingOptions& options, std::int64_t examples);

/// Trains `parameters` on `data`. `graph` is a forward graph in training mode with the output `loss` (quantizers in it
/// train with the straight-through estimator); its trainable parameters change, the frozen ones do not.
///
/// The result is a function of the arguments alone: the same bits for any number of threads. Throws `UserError` for
/// options that make no sense, and when the loss stops being a number, with the step.
TrainingResult train(const Graph& graph, ParameterStore& parameters, const EncodedSet& data,
                     std::int32_t pad_id, const TrainingOptions& options,
                     const TrainingCallbacks& callbacks, const Library& library, ThreadPool& pool,
                     Device& device = cpu());

}  // namespace hone
