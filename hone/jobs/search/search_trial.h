#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "hone/jobs/allocation/best_allocation.h"
#include "hone/jobs/distillation.h"
#include "hone/jobs/fine_tune.h"
#include "hone/jobs/search/trial_space.h"
#include "hone/models/encoding.h"
#include "hone/models/model_source.h"
#include "hone/passes/prune_structure.h"
#include "hone/study/measure.h"
#include "hone/train/calibration.h"

/// A trial of a search: from a configuration to a model and its figures. The same configuration, seed, model and data give the
/// same bits, whoever runs it.
namespace hone {

/// What all trials of a search share. The texts that choices are made on are `data.validation`, whatever the protocol.
struct TrialSubject {
  std::string name;  ///< of the model, as `open_model` takes it
  TextModel parent;  ///< as it was opened, or the first of its kind with fresh weights
  /// Every trial draws weights of its own: there is an architecture to choose, or the model has fresh ones.
  bool fresh = false;
  EncodedSplits data;
  EncodedSplits
      unwatched;  ///< the same without a validation part, for trainings that nobody looks at
  std::optional<Measurement> parent_measured = {};  ///< there; none: it is fresh
  FineTuneOptions training = {};  ///< what settings are put on top of: batches, evaluations
  CalibrationRun calibration = {};
  /// What tells what formats do to layers alone; none: the usual `allocation_texts`.
  std::optional<AllocationTexts> allocated_on = {};
  UnitScores unit_scores = {};  ///< of the parent, for recipes with [structure]
  std::uint64_t seed = 42;
  std::string executor = {};  ///< as `SearchJob` has it
};

/// The linears of the model with these keys of its config.json, as spaces ask for them; none where sizes do not go together.
LinearNames linears_of(const TrialSubject& subject, const Json& architecture,
                       const Context& context);

/// Why no model can be made by a configuration: sizes that do not go together. "": one can.
std::string objection(const TrialSubject& subject, const TrialConfiguration& configuration);

/// What a trial made and measured.
struct TrialModel {
  Model unrounded;  ///< what training would go on from
  Model model;      ///< as it is measured and saved
  Measurement measurement;
  /// By the names of `figure_names`, latency aside.
  std::map<std::string, double> figures = {};
  /// 95 %, of some of them: of the figure by which the task is judged under `kJudgedFigure`, with its value.
  std::map<std::string, std::vector<double>> intervals = {};
  Json allocated = {};  ///< formats and sparsities by layer, where the trial allocated them itself
  bool ended_early = false;  ///< `go_on` said so
  /// What trainings took, when they were run, whose weights came from `TrainedWeights`.
  double stored_seconds = 0, stored_cpu_seconds = 0;
};

/// Names of figures that formulas may have: those of the task's metrics, and of the model.
std::vector<std::string> figure_names(const TrialSubject& subject);
/// Whether a figure is known while a trial of this recipe trains.
bool is_known_on_the_way(const std::string& figure, const SearchRecipe& recipe, Task task);

/// How far a trial's answers are from those of the model it was made of (hone/study/layer_sensitivity.h).
inline constexpr const char* kDivergenceFigure = "divergence";
inline constexpr const char* kJudgedFigure = "judged";

/// Milliseconds of one text: of the moment, so it is measured anew by every trial.
inline constexpr const char* kLatencyFigure = "latency_ms";

/// Is shown the figures at each evaluation while the trial trains, from 1 on; whether to go on. Null: nobody looks.
using WatchTrial =
    std::function<bool(std::int64_t evaluation, const std::map<std::string, double>& figures)>;

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

/// Milliseconds for one text of the validation part, one at a time: the median over texts and rounds of the packed model, whose products
/// are of codes where a kernel takes them.
double latency_ms(const TrialModel& trial, const EncodedSplits& data, Context& context);

/// Checks what a recipe asks of a model before any trial runs: figures that there are, training where weights are fresh. Throws `UserError`.
void check_recipe(const SearchRecipe& recipe, const TrialSubject& subject);

/// Parameters of the space that change nothing, each alone, in any of some drawn points: neither the graph, nor how it is trained,
/// pruned or rounded.
std::vector<std::string> dead_parameters(const TrialSpace& space, const TrialSubject& subject,
                                         Context& context);

}  // namespace hone
