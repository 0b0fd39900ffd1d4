#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "hone/base/fields.h"
#include "hone/base/options.h"
#include "hone/jobs/training_log.h"
#include "hone/models/encoding.h"
#include "hone/study/measure.h"
#include "hone/train/checkpoints.h"

namespace hone {

/// A line of training_log.jsonl: of a logging step, with the keys of Hugging Face's `log_history`.
struct StepLine {
  double loss = 0, grad_norm = 0, learning_rate = 0, epoch = 0;
  std::int64_t step = 0;
};
/// Of an evaluation. Metrics of single classes, labels or numbers, which would make it long, are null.
struct EvaluationLine {
  EvaluationResult evaluation;
  double epoch = 0;
  std::int64_t step = 0;
};
const Fields& fields_of(const StepLine*);
const Fields& fields_of(const EvaluationLine*);

struct FineTuneOptions {
  TrainingOptions training;
  std::vector<std::string> freeze = {};  ///< globs over parameter names
  std::int64_t eval_batch_size = 32;
  std::string title = "train";  ///< of the progress line
  /// Keep the weights of the best evaluation instead of the last ones.
  bool load_best_model_at_end = false;
  /// End after so many evaluations without a better one; 0: never. The best weights are kept then.
  std::int64_t early_stopping_patience = 0;
  /// The figure of the validation part that the best evaluation is told by (see hone/metrics/metric.h).
  /// Empty: the one by which the task is judged.
  std::string metric_for_best_model = {};
  std::string class_weights = {};  ///< as `class_weights` takes it
  /// What the learning rate falls by from each layer to the one below it; 1: nothing. See `layer_rates`.
  double layerwise_lr_decay = 1;
  Tensor parent_logits = {};  ///< f32 (training texts, classes), of `training.distillation`
  CheckpointOptions checkpoints = {};
  /// As `TrainingCallbacks::before_step`.
  std::function<void(std::int64_t, ParameterStore&)> before_step = {};
  /// Shown every evaluation of the validation part, after so many steps; whether to go on. Null: it goes on.
  std::function<bool(std::int64_t step, const TaskEvaluation&)> on_evaluation = {};
  /// Evaluations before so many steps are shown, and neither chosen nor counted: the model is not yet what it is to be.
  std::int64_t choose_from_step = 0;

  bool chooses() const { return load_best_model_at_end || early_stopping_patience > 0; }
};

/// How a job trains.
Options options_of(const FineTuneOptions*);

/// An evaluation that was better than that of the weights which the model has.
struct BetterEvaluation {
  std::int64_t step = 0;
  std::string text = {};   ///< "accuracy 96.3%"
  bool is_stored = false;  ///< there is a checkpoint of this step
};

struct FineTuneResult {
  TrainingResult training;
  Selection selection;
  std::optional<BetterEvaluation> better = {};
  std::int64_t weights_of_step = 0;  ///< the weights are those after this step
  std::vector<float> class_weights =
      {};  ///< of the training loss; empty: all classes weigh the same
  /// What these weights do on the validation part, when that was measured in this run.
  std::optional<Measurement> validation = {};
};

/// Trains the model in place on `data.train`, quantized if it is, and evaluates on `data.validation` (when there is
/// any) after every epoch or `eval_steps`, with a line of progress for each. With checkpoints, it goes on from the newest when asked to, to the same
/// bits as without the interruption.
///
/// Throws `Interrupted` when somebody asked to stop, after a checkpoint if there are any; `UserError` as `train` does,
/// naming the last checkpoint, and for a choice that has no validation part to be made on.
FineTuneResult fine_tune(Model& model, const EncodedSplits& data, const FineTuneOptions& options,
                         TrainingLog& log, Context& context);

}  // namespace hone
