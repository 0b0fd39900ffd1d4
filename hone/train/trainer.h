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

/// Larger numbers of epochs are assumed to be mistakes.
inline constexpr double kMaxEpochs = 1e9;

/// Options of a training run, with the defaults of Hugging Face's Trainer.
struct TrainingOptions {
  AdamWOptions optimizer = {};
  double epochs = 1;           ///< may be a fraction
  std::int64_t max_steps = 0;  ///< if positive, the number of steps instead of `epochs`
  std::int64_t batch_size = 8;
  /// Batches per step. A step optimizes all their examples together, with the memory of one batch and of a sum of
  /// gradients. The last step of an epoch has the remaining batches.
  std::int64_t gradient_accumulation_steps = 1;
  std::string lr_scheduler_type = "linear";  ///< see `schedules`
  std::int64_t warmup_steps = 0;
  double warmup_ratio =
      0;  ///< share of the steps that warm up, rounded up; used if `warmup_steps` is 0
  std::uint64_t seed = 42;  ///< of the order of the examples and of dropout
  bool shuffle = true;
  bool group_by_length =
      false;  ///< put texts of similar length in a batch (see batching.h); for shuffled runs
  /// The weight of each class in the training loss, which becomes the weighted mean; empty: all weights are 1.
  std::vector<float> class_weights = {};
  double label_smoothing_factor = 0;  ///< of the training loss: see `smooth_labels`
  /// Distillation from a teacher's logits, the input `kTeacherLogits` of the examples: see `distill`.
  std::optional<Distillation> distillation = {};
  std::int64_t logging_steps = 500;
  std::int64_t eval_steps = 0;  ///< 0: after every epoch
  std::int64_t save_steps =
      0;  ///< 0: after every epoch and evaluation; else also every `save_steps` steps
};

struct RunningMean {
  double sum = 0;
  std::int64_t count = 0;
  void add(double value) {
    sum += value;
    ++count;
  }
  double mean() const { return count == 0 ? 0 : sum / static_cast<double>(count); }
};

/// The state of a run between two steps. Together with the parameters, the moments of AdamW ("adamw.*") and scores
/// ("movement.*") it suffices to continue with the same bits: the order of examples and dropout are functions of seed
/// and step.
struct TrainingState {
  std::int64_t step = 0;            ///< finished steps
  std::int64_t evaluated_step = 0;  ///< step of the last evaluation
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
  /// Called before every step with the number of finished ones. May change parameters that are not trained, as a
  /// function of its arguments alone. A resumed run calls it again before its first step.
  std::function<void(std::int64_t, ParameterStore&)> before_step = {};
  std::function<void(const StepRecord&)> on_step =
      {};  ///< after every step, with the values of that step
  std::function<void(const StepRecord&)> on_log = {};  ///< every `logging_steps`, and at the end
  /// Called after every epoch, after `save_steps`, before each evaluation, and when the run ends. The parameters
  /// include the moments.
  std::function<void(const TrainingState&, const ParameterStore&)> on_checkpoint = {};
  /// Called after every epoch or `eval_steps`, and at the end. It may read and evaluate the parameters, but not
  /// change them. Returns whether to continue.
  std::function<bool(const StepRecord&, const ParameterStore&)> on_evaluate = {};
  /// Called after every step. Returns whether to end the run there, after a checkpoint.
  std::function<bool()> stop_requested = {};
};

enum class TrainingEnd {
  finished,     ///< all steps are done
  early,        ///< stopped by `on_evaluate`
  interrupted,  ///< stopped by `stop_requested`
};

struct TrainingResult {
  TrainingEnd end = TrainingEnd::finished;
  std::int64_t steps = 0;  ///< finished steps
  std::int64_t examples = 0;
  double seconds = 0;         ///< of all processes
  double seconds_before = 0;  ///< of these, by interrupted processes
  double mean_loss = 0;  ///< over the steps, including all terms that `options` add to the loss
};

/// Thrown when the loss or a weight becomes NaN or infinite.
class Diverged : public UserError {
 public:
  Diverged(std::int64_t step, std::int64_t unusable_step, std::string_view what)
      : UserError(fmt::format("training diverged at step {}: {}", step, what)),
        unusable_step_(unusable_step) {}
  /// The step whose weights are unusable; 0: the initial weights are.
  std::int64_t unusable_step() const { return unusable_step_; }

 private:
  std::int64_t unusable_step_;
};

/// Returns the number of steps that `options` request on `examples` examples.
std::int64_t total_steps(const TrainingOptions& options, std::int64_t examples);

/// Returns the rows that such a run reads, in ascending order: all rows of `data` if it makes a whole epoch.
std::vector<std::int64_t> rows_read_by(const TrainingOptions& options, const ExampleSource& data);

/// Returns how many of `steps` steps warm up, as in Hugging Face's Trainer.
std::int64_t warmup_steps(const TrainingOptions& options, std::int64_t steps);

/// Trains `parameters` on `data`. `graph` is a forward graph in training mode with the output `loss`; its quantizers
/// train with the straight-through estimator. Trainable parameters change, frozen ones do not. All are moved to the
/// session's device and stay there.
///
/// `from` is the state of an earlier run with the same arguments; `parameters` are then those of that run, including
/// moments.
///
/// The result is a function of the arguments alone: the same bits for any number of threads, and after any number of
/// interruptions. Throws `UserError` for invalid options, and `Diverged` if the loss or, at a checkpoint, a weight
/// becomes NaN or infinite.
TrainingResult train(const Graph& graph, ParameterStore& parameters, const ExampleSource& data,
                     const TrainingOptions& options, const Session& session,
                     const TrainingCallbacks& callbacks = {}, const TrainingState& from = {});

}  // namespace hone
