#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "hone/base/error.h"
#include "hone/base/thread_pool.h"
#include "hone/ir/graph.h"
#include "hone/passes/distill.h"
#include "hone/runtime/session.h"
#include "hone/tensor/parameter_store.h"
#include "hone/train/example_source.h"
#include "hone/train/optimizer.h"

namespace hone {

/// Passes from here on are none that anybody means.
inline constexpr double kMostEpochs = 1e9;

/// What a training run is; the defaults are those of Hugging Face's Trainer.
struct TrainingOptions {
  AdamWOptions optimizer = {};
  double epochs = 1;           ///< may be a fraction
  std::int64_t max_steps = 0;  ///< if positive, the number of steps instead of `epochs`
  std::int64_t batch_size = 8;
  /// Batches of a step, one after the other: the step is that of all their texts together, and takes the memory of one batch
  /// and of a sum of gradients. The last step of an epoch has the batches that are left.
  std::int64_t gradient_accumulation_steps = 1;
  std::string lr_scheduler_type = "linear";  ///< see `schedules`
  std::int64_t warmup_steps = 0;
  double warmup_ratio =
      0;  ///< share of the steps that warm up, rounded up; where `warmup_steps` is 0
  std::uint64_t seed = 42;  ///< of the order of the examples and of dropout
  bool shuffle = true;
  bool group_by_length =
      false;  ///< texts of like length share a batch (see batching.h); for shuffled runs
  /// The weight of each class in the training loss, which is then the weighted mean; empty: all are 1.
  std::vector<float> class_weights = {};
  double label_smoothing_factor = 0;  ///< of the training loss: see `smooth_labels`
  /// Beside the labels, what a parent says of the examples, which have it as the input `kParentLogits`: see `distill`.
  std::optional<Distillation> distillation = {};
  std::int64_t logging_steps = 500;
  std::int64_t eval_steps = 0;  ///< 0: after every epoch
  std::int64_t save_steps =
      0;  ///< 0: after every epoch and evaluation; else every so many steps too
};

/// A mean that grows.
struct RunningMean {
  double sum = 0;
  std::int64_t count = 0;
  void add(double value) {
    sum += value;
    ++count;
  }
  double mean() const { return count == 0 ? 0 : sum / static_cast<double>(count); }
};

/// Where a run stands between two steps. With the parameters, the moments of AdamW ("adamw.*") and scores ("movement.*") it is
/// all that the run needs to go on to the same bits: the order of the texts and dropout are functions of seed and step.
struct TrainingState {
  std::int64_t step = 0;            ///< finished steps
  std::int64_t evaluated_step = 0;  ///< at which the last evaluation was
  std::int64_t examples = 0;
  double seconds = 0;
  RunningMean loss, loss_since_log;
};

/// Means over the steps since the last record.
struct StepRecord {
  std::int64_t step = 0;  ///< finished steps
  double epoch = 0;
  double loss = 0;
  double grad_norm = 0;      ///< of the last step, before clipping
  double learning_rate = 0;  ///< of the last step
  double padding_share =
      0;  ///< of the tokens computed since the run (re)started, in [0, 1); 0 without padding
};

struct TrainingCallbacks {
  /// Before every step, with the number of finished ones: may change parameters that are not trained, as a function of its
  /// arguments alone. A run that goes on from a checkpoint asks again before its first step.
  std::function<void(std::int64_t, ParameterStore&)> before_step = {};
  std::function<void(const StepRecord&)> on_step =
      {};  ///< after every step, with that step's figures
  std::function<void(const StepRecord&)> on_log = {};  ///< every `logging_steps`, and at the end
  /// After every epoch, `save_steps` and evaluation that is due (before it runs), and when the run ends. The parameters
  /// have the moments among them.
  std::function<void(const TrainingState&, const ParameterStore&)> on_checkpoint = {};
  /// After every epoch or `eval_steps`, and at the end; the parameters may be read and evaluated, not changed. Returns
  /// whether to go on.
  std::function<bool(const StepRecord&, const ParameterStore&)> on_evaluate = {};
  /// Asked after every step: whether to end the run there, after a checkpoint.
  std::function<bool()> stop_requested = {};
};

enum class TrainingEnd {
  finished,     ///< all steps were done
  early,        ///< `on_evaluate` said so
  interrupted,  ///< `stop_requested` said so
};

struct TrainingResult {
  TrainingEnd end = TrainingEnd::finished;
  std::int64_t steps = 0;  ///< done
  std::int64_t examples = 0;
  double seconds = 0;         ///< of all processes
  double seconds_before = 0;  ///< of these, by interrupted ones
  double mean_loss = 0;  ///< of the steps, with all that `options` add to the loss
};

/// Training has left the numbers behind.
class Diverged : public UserError {
 public:
  Diverged(std::int64_t step, std::int64_t useless_step, std::string_view what)
      : UserError(fmt::format("training diverged at step {}: {}", step, what)),
        useless_step_(useless_step) {}
  /// With the weights after this step nothing can be computed; 0: with those that training began with.
  std::int64_t useless_step() const { return useless_step_; }

 private:
  std::int64_t useless_step_;
};

/// The number of steps `options` ask for on `examples` examples.
std::int64_t total_steps(const TrainingOptions& options, std::int64_t examples);

/// The rows, rising, that such a run reads: those of all of `data` where it makes a whole epoch.
std::vector<std::int64_t> rows_of_run(const TrainingOptions& options, const ExampleSource& data);

/// How many of `steps` steps warm up, as in Hugging Face's Trainer.
std::int64_t warmup_steps(const TrainingOptions& options, std::int64_t steps);

/// Trains `parameters` on `data`. `graph` is a forward graph in training mode with the output `loss` (quantizers in it
/// train with the straight-through estimator); its trainable parameters change, the frozen ones do not. All are moved to the session's device
/// and stay there.
///
/// `from` is where an earlier run with the same arguments stood; `parameters` are then those it had, moments included.
///
/// The result is a function of the arguments alone: the same bits for any number of threads, and after any number of
/// interruptions. Throws `UserError` for options that make no sense, and `Diverged` when the loss or, at a checkpoint, a
/// weight stops being a number.
TrainingResult train(const Graph& graph, ParameterStore& parameters, const ExampleSource& data,
                     const TrainingOptions& options, const Session& session,
                     const TrainingCallbacks& callbacks = {}, const TrainingState& from = {});

}  // namespace hone
