#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "hone/jobs/distillation.h"
#include "hone/jobs/search/trial_metrics.h"
#include "hone/jobs/search/trial_subject.h"

/// Runs a trial of a search: from a configuration to a model and its metrics. The same configuration, seed, model and
/// data give the same bits in every process.
namespace hone {

/// The model and metrics of a trial.
struct TrialModel {
  Model unrounded;  ///< for further training
  Model model;      ///< as measured and saved
  Measurement measurement;
  /// By the names of `metric_names`, without latency.
  std::map<std::string, double> metrics = {};
  /// {value, low, high} of some metrics, 95%; that of the task's metric under `kJudgedMetric`.
  std::map<std::string, std::vector<double>> intervals = {};
  Json allocated = {};       ///< formats and sparsities by layer, if the trial allocated them
  bool ended_early = false;  ///< `EvaluationCallback` ended it
  /// Original duration of the trainings whose weights came from `TrainingCache`.
  double stored_seconds = 0, stored_cpu_seconds = 0;
};

/// Called with the metrics at each evaluation during training, counted from 1. Returns whether to go on. May be null.
using EvaluationCallback =
    std::function<bool(std::int64_t evaluation, const std::map<std::string, double>& metrics)>;

/// The weights of a training, and its duration.
struct FinishedTraining {
  ParameterStore weights;
  double seconds = 0, cpu_seconds = 0;
};

/// A cache of trainings by everything that affects their weights, for trials that differ only in later steps.
struct TrainingCache {
  std::function<std::optional<FinishedTraining>(const Json& of)> find = {};  ///< null: no cache
  std::function<void(const Json& of, const FinishedTraining&)> keep = {};
};

/// Titles, and checkpoint folders, of the training before compression and of the one after it.
inline constexpr const char *kFirstTraining = "train", *kSecondTraining = "train compressed";

/// The state of an interrupted or pruned trial, and caches that trials share.
struct TrialProgress {
  fs::path folder = {};          ///< for checkpoints of its trainings; empty: none are stored
  std::int64_t evaluations = 0;  ///< evaluations until then
  TrainingCache trained = {};
  TeacherLogits* teacher_logits =
      nullptr;  ///< teacher logits of earlier trials; null: every trial computes its own
  /// Divergences of formats on single layers, by everything that affects them; null: every trial measures its own.
  std::map<std::string, LayerDivergences>* layer_divergences = nullptr;
};

/// Runs a trial, from the checkpoints in `progress` if there are any, with the same bits. Throws `UserError` for an
/// invalid configuration: formats of layers that do not exist, LoRA without training.
TrialModel run_trial(const TrialSubject& subject, const TrialSpace& space,
                     const TrialConfiguration& configuration, std::uint64_t seed,
                     const EvaluationCallback& watch, const TrialProgress& progress,
                     Context& context);

/// Returns the total number of training steps of a configuration.
std::int64_t training_steps(const TrialSubject& subject, const TrialConfiguration& configuration);

}  // namespace hone
