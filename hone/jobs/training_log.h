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

/// The log of a training run: one JSON object per logging step and per evaluation, with Hugging Face's keys. Kept in
/// memory, and written to a JSON Lines file that can be followed while it grows.
class TrainingLog {
 public:
  TrainingLog() = default;  ///< in memory only
  explicit TrainingLog(fs::path file) : file_(std::move(file)) {}

  /// Also writes the numbers of every line for TensorBoard, like Hugging Face's Trainer: into FOLDER/runs, named
  /// train/loss, eval/accuracy, …. To be called before the first line.
  void report_to_tensorboard(const fs::path& folder);

  /// Throws `UserError` if the file cannot be written.
  void write(const Json& line);
  /// Adds a step for the learning curve; in memory only.
  void add_step(const StepRecord& record) { steps_.push_back(record); }
  /// Sets the loss terms that training adds to those of evaluations: "distillation".
  void set_added_loss(std::string terms) { added_loss_ = std::move(terms); }
  const std::string& added_loss() const { return added_loss_; }
  /// Restores the steps and the first `count` lines of the file from an earlier run. Later lines are removed, because
  /// their steps are repeated. A log without a file cannot restore lines. Throws `UserError` if the file has fewer
  /// lines.
  void resume(std::size_t count, std::vector<StepRecord> steps);
  const std::vector<Json>& lines() const { return lines_; }
  const std::vector<StepRecord>& steps() const { return steps_; }

 private:
  fs::path file_;  // empty: no file
  std::ofstream stream_;
  std::optional<EventFile> events_;
  std::vector<Json> lines_;
  std::vector<StepRecord> steps_;
  std::string added_loss_;
};

}  // namespace hone
