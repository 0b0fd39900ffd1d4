#pragma once

#include <functional>
#include <optional>

#include "hone/frontends/huggingface/model.h"
#include "hone/train/trainer.h"

/// A training run on disk, in the layout of Hugging Face's Trainer: FOLDER/checkpoint-STEP, each a model folder that
/// also contains the state of the run.
namespace hone {

/// Globs of checkpoint files at any depth of a folder: the states needed to resume runs, and the moments of AdamW.
inline constexpr const char* kCheckpointStates = "*checkpoint-*/trainer_state.json";
inline constexpr const char* kCheckpointMoments = "*checkpoint-*/optimizer.safetensors";

/// Results on the validation split so far, and the decisions that follow from them.
struct Selection {
  std::int64_t best_step = 0;            ///< 0: no evaluation yet
  double best_value = 0;                 ///< of the metric that selects the best step
  std::int64_t without_improvement = 0;  ///< evaluations since the best
  bool ended = false;                    ///< stopped early: training is complete
};

struct TrainingCheckpoint {
  TrainingState state;
  Selection selection;
  std::size_t log_lines = 0;           ///< lines of the training log up to this checkpoint
  std::vector<StepRecord> steps = {};  ///< all finished steps
};

struct CheckpointOptions {
  fs::path folder = {};   ///< contains checkpoint-STEP; empty: nothing is saved
  std::int64_t keep = 2;  ///< number of newest checkpoints to keep, besides the best
  bool resume = false;    ///< resume from the newest, if there is one
  /// Writes all files of the model into an existing folder.
  std::function<void(const Model&, const fs::path&)> write_model = {};
  /// Reads the parameters from such a folder, all or those that training changes; null: they are those of a model
  /// (checkpoint.h).
  std::function<TensorMap(const fs::path&)> read_model = {};
  /// Called with a message if training diverged and would diverge again from every checkpoint.
  std::function<void(const std::string&)> on_diverged = {};
};

/// Saves `model` with `parameters`, including moments of AdamW, and the state of the run, atomically. Throws
/// `UserError`.
void save_training(const CheckpointOptions& options, const Model& model,
                   const ParameterStore& parameters, const TrainingCheckpoint& checkpoint);

/// Rewrites the state in the checkpoint of its step, after an evaluation, which changes no weights.
void update_training(const CheckpointOptions& options, const TrainingCheckpoint& checkpoint);

/// Removes the checkpoints that are neither among the newest nor the best. Call it only after the newest one has been
/// used in a step: its weights may be finite and still lead to NaN or infinite values.
void remove_old_checkpoints(const CheckpointOptions& options, std::int64_t best_step);

/// Removes the checkpoint of a step, if there is one.
void remove_checkpoint(const CheckpointOptions& options, std::int64_t step);

fs::path checkpoint_folder(const CheckpointOptions& options, std::int64_t step);

/// Returns the steps that have a checkpoint, in ascending order.
std::vector<std::int64_t> checkpoint_steps(const fs::path& folder);

/// Returns the state of the newest checkpoint, if there is one, and loads its weights and moments into `parameters`.
/// Throws `UserError` if it does not fit `parameters`.
std::optional<TrainingCheckpoint> load_training(const CheckpointOptions& options,
                                                ParameterStore& parameters);

/// Loads the weights of the checkpoint of `step` into `parameters`, without moments.
void load_weights(const CheckpointOptions& options, std::int64_t step, ParameterStore& parameters);

}  // namespace hone
