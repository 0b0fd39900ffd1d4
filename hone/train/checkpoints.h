#pragma once

#include <functional>
#include <optional>

#include "hone/frontends/huggingface/model.h"
#include "hone/train/trainer.h"

/// A training run on disk, as Hugging Face's Trainer lays it out: FOLDER/checkpoint-STEP, each a model folder of its
/// own with the state of the run beside the weights.
namespace hone {

/// Globs of paths in a folder that holds checkpoints anywhere: the states of runs, by which they go on, and the moments of AdamW.
inline constexpr const char* kCheckpointStates = "*checkpoint-*/trainer_state.json";
inline constexpr const char* kCheckpointMoments = "*checkpoint-*/optimizer.safetensors";

/// What was seen on the validation part so far, and what follows from it.
struct Selection {
  std::int64_t best_step = 0;            ///< 0: there was no evaluation yet
  double best_value = 0;                 ///< of the figure that is chosen by
  std::int64_t without_improvement = 0;  ///< evaluations since the best
  bool ended = false;                    ///< early: there is nothing left to train
};

struct TrainingCheckpoint {
  TrainingState state;
  Selection selection;
  std::size_t log_lines = 0;           ///< of the training log that belong to it
  std::vector<StepRecord> steps = {};  ///< all that were done
};

struct CheckpointOptions {
  fs::path folder = {};   ///< that holds checkpoint-STEP; empty: nothing is saved
  std::int64_t keep = 2;  ///< the newest so many stay, and the best one
  bool resume = false;    ///< go on from the newest, if there is one
  /// Writes all files of the model into an existing folder.
  std::function<void(const Model&, const fs::path&)> write_model = {};
  /// The parameters in such a folder, all or those that training changes; null: they are those of a model (checkpoint.h).
  std::function<TensorMap(const fs::path&)> read_model = {};
  /// The training has diverged, which the text says, and would again from any checkpoint.
  std::function<void(const std::string&)> on_diverged = {};
};

/// Saves `model` with `parameters` (moments of AdamW among them) and the state of the run, whole or not at all. Throws
/// `UserError`.
void save_training(const CheckpointOptions& options, const Model& model,
                   const ParameterStore& parameters, const TrainingCheckpoint& checkpoint);

/// Writes the state anew into the checkpoint of its step: after an evaluation, which changes no weights.
void update_training(const CheckpointOptions& options, const TrainingCheckpoint& checkpoint);

/// Removes the checkpoints that are neither among the newest nor the best. Not before the newest has been computed with:
/// its weights may be numbers, and nothing that is made of them.
void remove_old_checkpoints(const CheckpointOptions& options, std::int64_t best_step);

/// Removes the checkpoint of a step, if there is one.
void remove_checkpoint(const CheckpointOptions& options, std::int64_t step);

/// The folder of a step's checkpoint.
fs::path checkpoint_folder(const CheckpointOptions& options, std::int64_t step);

/// The steps that have a checkpoint, rising.
std::vector<std::int64_t> checkpoint_steps(const fs::path& folder);

/// The newest checkpoint, if there is any: its state, and into `parameters` its weights and moments.
/// Throws `UserError` when it does not fit `parameters`.
std::optional<TrainingCheckpoint> load_training(const CheckpointOptions& options,
                                                ParameterStore& parameters);

/// The weights of the checkpoint of `step` into `parameters`, without moments.
void load_weights(const CheckpointOptions& options, std::int64_t step, ParameterStore& parameters);

}  // namespace hone
