#include "hone/jobs/training_log.h"

#include <algorithm>

#include "hone/base/error.h"
#include "hone/base/text.h"
#include "hone/base/written_files.h"

namespace hone {
namespace {

// TensorBoard shows "eval_loss" as eval/loss; other numbers of a step belong to the training.
std::string tag(const std::string& key) {
  constexpr std::string_view kEvaluation = "eval_";
  return key.starts_with(kEvaluation) ? "eval/" + key.substr(kEvaluation.size()) : "train/" + key;
}

// Excludes the step, and numbers that describe the texts: they never change, so a chart would show nothing.
bool is_charted(std::string_view key) {
  constexpr std::string_view kConstant[] = {
      "step",          "eval_samples",      "eval_effective_samples", "eval_majority_share",
      "eval_baseline", "eval_baseline_rmse"};
  return std::ranges::find(kConstant, key) == std::end(kConstant);
}

void write_event(EventFile& events, const Json& line) {
  std::vector<std::pair<std::string, double>> scalars;
  for (const auto& [key, value] : line.items())
    if (value.is_number() && is_charted(key)) scalars.emplace_back(tag(key), value.get<double>());
  events.write(line.at("step").get<std::int64_t>(), scalars);
}

}  // namespace

void TrainingLog::report_to_tensorboard(const fs::path& folder) {
  HONE_ASSERT(lines_.empty(), "the log of {} lines has begun already", lines_.size());
  events_.emplace(folder / "runs" / "events.out.tfevents.hone");
}

void TrainingLog::write(const Json& line) {
  lines_.push_back(line);
  if (events_) write_event(*events_, line);
  if (file_.empty()) return;
  if (!stream_.is_open()) {
    claim_file(file_);
    stream_.open(file_, lines_.size() > 1 ? std::ios::app : std::ios::trunc);
  }
  stream_ << to_line(line) << std::endl;
  user_check(stream_.good(), "{}: cannot write; is the disk full?", file_.string());
}

void TrainingLog::resume(std::size_t count, std::vector<StepRecord> steps) {
  HONE_ASSERT(lines_.empty(), "the log of {} lines has begun already", lines_.size());
  steps_ = std::move(steps);
  if (count == 0 || file_.empty()) return;
  std::string kept;
  for (const std::string& line : split(read_file(file_), '\n')) {
    if (lines_.size() == count) break;
    lines_.push_back(
        parse_json(line, fmt::format("{}: line {}", file_.string(), lines_.size() + 1)));
    kept += line + "\n";
  }
  user_check(lines_.size() == count,
             "{}: expected {} lines as in the checkpoint, got {}; the run cannot be resumed",
             file_.string(), count, lines_.size());
  write_file(file_, kept);
  if (!events_) return;
  // Every line needs an event. Missing events were lost, or not requested by the earlier run.
  for (std::size_t i = events_->keep(count); i < count; ++i) write_event(*events_, lines_[i]);
}

}  // namespace hone
