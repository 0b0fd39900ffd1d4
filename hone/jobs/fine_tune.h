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

/// A logging step in training_log.jsonl, with the keys of Hugging Face's `log_history`.
struct StepLine {
  double loss = 0, grad_norm = 0, learning_rate = 0, epoch = 0;
  std::int64_t step = 0;
};
/// An evaluation in training_log.jsonl. Metrics of single classes, labels or outputs are null, to keep it short.
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
  /// Keep the weights of the best evaluation instead of the last.
  bool load_best_model_at_end = false;
  /// Stop after this many evaluations without improvement and keep the best weights; 0: never.
  std::int64_t early_stopping_patience = 0;
  /// Metric that selects the best evaluation on the validation split (see hone/metrics/metric.h). Empty: the task's
  /// metric.
  std::string metric_for_best_model = {};
  std::string class_weights = {};  ///< see `class_weights`
  /// Factor of the learning rate from each layer to the one below it; 1: none. See `layer_rates`.
  double layerwise_lr_decay = 1;
  Tensor teacher_logits = {};  ///< f32 (training texts, classes), for `training.distillation`
  CheckpointOptions checkpoints = {};
  /// See `TrainingCallbacks::before_step`.
  std::function<void(std::int64_t, ParameterStore&)> before_step = {};
  /// Called after every evaluation on the validation split; returns whether to continue. Null: always continue.
  std::function<bool(std::int64_t step, const TaskEvaluation&)> on_evaluation = {};
  /// Evaluations before this step are shown but neither selected nor counted, because the model has not reached its
  /// final form.
  std::int64_t select_from_step = 0;

  bool selects_checkpoint() const { return load_best_model_at_end || early_stopping_patience > 0; }
};

Options options_of(const FineTuneOptions*);

/// An evaluation better than that of the model's final weights.
struct BetterEvaluation {
  std::int64_t step = 0;
  std::string text = {};   ///< "accuracy 96.3%"
  bool is_stored = false;  ///< whether a checkpoint of this step exists
};

struct FineTuneResult {
  TrainingResult training;
  Selection selection;
  std::optional<BetterEvaluation> better = {};
  std::int64_t weights_of_step = 0;       ///< step whose weights the model has
  std::vector<float> class_weights = {};  ///< in the training loss; empty: all equal
  /// Measurement of these weights on the validation split, if this run made it.
  std::optional<Measurement> validation = {};
};

/// Trains the model in place on `data.train`, with its quantizers if it has any. Evaluates on `data.validation`, if
/// there is one, after every epoch or `eval_steps`, and prints a line for each. With checkpoints, resumes from the
/// newest if asked to, bit-identical to an uninterrupted run.
///
/// Throws `Interrupted` on request, after writing a checkpoint if enabled; `UserError` like `train`, naming the last
/// checkpoint, and if there is no validation split to select on.
FineTuneResult fine_tune(Model& model, const EncodedSplits& data, const FineTuneOptions& options,
                         TrainingLog& log, Context& context);

}  // namespace hone
