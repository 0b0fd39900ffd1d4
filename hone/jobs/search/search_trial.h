#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "hone/jobs/distillation.h"
#include "hone/jobs/search/trial_metrics.h"
#include "hone/jobs/search/trial_subject.h"

/// A trial of a search: from a configuration to a model and its metrics. The same configuration, seed, model and data give the
/// same bits, whoever runs it.
namespace hone {

/// What a trial made and measured.
struct TrialModel {
  Model unrounded;  ///< what training would go on from
  Model model;      ///< as it is measured and saved
  Measurement measurement;
  /// By the names of `metric_names`, latency aside.
  std::map<std::string, double> metrics = {};
  /// 95%, of some of them: of the metric by which the task is judged under `kJudgedMetric`, with its value.
  std::map<std::string, std::vector<double>> intervals = {};
  Json allocated = {};  ///< formats and sparsities by layer, where the trial allocated them itself
  bool ended_early = false;  ///< `go_on` said so
  /// What trainings took, when they were run, whose weights came from `TrainedWeights`.
  double stored_seconds = 0, stored_cpu_seconds = 0;
};

/// Is shown the metrics at each evaluation while the trial trains, from 1 on; whether to go on. Null: nobody looks.
using WatchTrial =
    std::function<bool(std::int64_t evaluation, const std::map<std::string, double>& metrics)>;

/// What a training gave, and what it took.
struct FinishedTraining {
  ParameterStore weights;
  double seconds = 0, cpu_seconds = 0;
};

/// Trainings that were run, by what decides on their weights: trials that differ in what comes behind need not train again.
struct TrainedWeights {
  std::function<std::optional<FinishedTraining>(const Json& of)> find =
      {};  ///< null: none are kept
  std::function<void(const Json& of, const FinishedTraining&)> keep = {};
};

/// A trial trains all weights first, then those that are pruned or rounded: titles, and folders of checkpoints.
inline constexpr const char *kFirstTraining = "train", *kSecondTraining = "train compressed";

/// How far a trial came before it was ended, to go on from there.
struct TrialProgress {
  fs::path folder = {};          ///< of the checkpoints of its trainings; empty: none are kept
  std::int64_t evaluations = 0;  ///< that `watch` was shown then
  TrainedWeights trained = {};
  ParentLogits* asked = nullptr;  ///< of the parent, by trials before; null: every trial asks anew
  /// What formats do alone to the layers of models, by what decides on their weights; null: every trial measures anew.
  std::map<std::string, AloneDivergences>* alone = nullptr;
};

/// Goes on from the checkpoints in `progress`, to the same bits. Throws `UserError` for a configuration that cannot be: formats of layers that there are not, LoRA without training.
TrialModel run_trial(const TrialSubject& subject, const TrialSpace& space,
                     const TrialConfiguration& configuration, std::uint64_t seed,
                     const WatchTrial& watch, const TrialProgress& progress, Context& context);

/// Returns how many steps the trainings of this configuration have in all.
std::int64_t training_steps(const TrialSubject& subject, const TrialConfiguration& configuration);

}  // namespace hone
