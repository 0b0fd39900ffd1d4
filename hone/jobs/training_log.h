#pragma once

#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "hone/base/file.h"
#include "hone/base/json.h"
#include "hone/report/event_file.h"
#include "hone/train/trainer.h"

namespace hone {

/// What a training run tells while it goes: one JSON object per logging step and per evaluation, with Hugging Face's
/// keys. Kept, and written to a file of one object per line that can be followed while it grows.
class TrainingLog {
 public:
  TrainingLog() = default;  ///< kept only
  explicit TrainingLog(fs::path file) : file_(std::move(file)) {}

  /// Writes the figures of every line for TensorBoard too: as Hugging Face's Trainer, into FOLDER/runs, under the names
  /// train/loss, eval/accuracy, …. Before the first line.
  void report_to_tensorboard(const fs::path& folder);

  /// Throws `UserError` when the file cannot be written.
  void write(const Json& line);
  /// Every single step, for the learning curve; kept, not written.
  void add_step(const StepRecord& record) { steps_.push_back(record); }
  /// What the loss of steps contains beside that of evaluations: "distillation".
  void set_added_loss(std::string terms) { added_loss_ = std::move(terms); }
  const std::string& added_loss() const { return added_loss_; }
  /// Takes up the steps and the first `count` lines of the file that an earlier run has left; the others are removed, for their steps
  /// are done again. A log without a file has lost them. Throws `UserError` when the file has fewer.
  void resume(std::size_t count, std::vector<StepRecord> steps);
  const std::vector<Json>& lines() const { return lines_; }
  const std::vector<StepRecord>& steps() const { return steps_; }

 private:
  fs::path file_;  // empty: none
  std::ofstream stream_;
  std::optional<EventFile> events_;
  std::vector<Json> lines_;
  std::vector<StepRecord> steps_;
  std::string added_loss_;
};

}  // namespace hone
