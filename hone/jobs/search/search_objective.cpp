#include "hone/jobs/search/search_objective.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>

#include "hone/base/error.h"
#include "hone/jobs/model_times.h"
#include "hone/jobs/paired_times.h"
#include "hone/jobs/search/quiet_trial.h"

namespace hone {
namespace {

/// A lock that trials share, except while one measures latencies, because others would slow it down.
class MachineLock {
 public:
  MachineLock(const fs::path& file, int operation) {
    if (file.empty()) return;
    std::error_code ignored;  // opening the file reports errors
    fs::create_directories(file.parent_path(), ignored);
    descriptor_ = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    user_check(descriptor_ >= 0 && ::flock(descriptor_, operation) == 0,
               "{}: cannot be locked, but latencies are measured while no other trial runs",
               file.string());
  }
  ~MachineLock() { release(); }
  MachineLock(const MachineLock&) = delete;
  MachineLock& operator=(const MachineLock&) = delete;
  void release() {
    if (descriptor_ >= 0) ::close(descriptor_);
    descriptor_ = -1;
  }

 private:
  int descriptor_ = -1;
};

}  // namespace

SearchObjective::SearchObjective(const SearchJob& job, const TrialSubject& subject,
                                 const TrialSpace& space, const fs::path& machine_lock,
                                 Context& context)
    : job_(job),
      subject_(subject),
      space_(space),
      machine_lock_(machine_lock),
      context_(context),
      cache_(job.cache, subject) {}

bool SearchObjective::measures_latency() const {
  const auto uses_latency = [](const MetricFormula& formula) {
    const std::vector<std::string> names = formula.names();
    return std::ranges::find(names, kLatencyMetric) != names.end();
  };
  const SearchRecipe& recipe = space_.recipe();
  return std::ranges::any_of(recipe.objectives,
                             [&](const ObjectiveFormula& o) { return uses_latency(o.formula); }) ||
         std::ranges::any_of(recipe.constraints, [&](const FormulaConstraint& c) {
           return uses_latency(c.left) || uses_latency(c.right);
         });
}

double SearchObjective::batch1_latency_ms(const Model& model) const {
  const MachineLock alone(machine_lock_, LOCK_EX);
  return latency_ms({packed_to_run(model, context_), subject_.data.validation},
                    subject_.baseline.model, context_);
}

std::uint64_t SearchObjective::seed_of(const Trial& trial) const {
  const auto repeat = trial.user_attributes.find("repeat");
  return job_.seed +
         (repeat == trial.user_attributes.end() ? 0 : repeat->second.get<std::uint64_t>());
}

// Returns the intermediate value of a trial: the first objective, of the metrics known during training.
double SearchObjective::reported(const std::map<std::string, double>& metrics) const {
  return space_.recipe().objectives.front().formula.value(metrics);
}

TrialOutcome SearchObjective::outcome_of(const std::map<std::string, double>& metrics) const {
  TrialOutcome outcome;
  for (const auto& objective : space_.recipe().objectives)
    outcome.values.push_back(objective.formula.value(metrics));
  for (const FormulaConstraint& constraint : space_.recipe().constraints)
    outcome.constraints.push_back(constraint.violation(metrics));
  // Verdicts are corrected for the budget of trials (Bonferroni).
  if (const auto p = metrics.find(kGateMetric); p != metrics.end()) {
    const double corrected = p->second * static_cast<double>(job_.budget.trials);
    outcome.constraints.push_back(corrected <= kVerdictLevel ? 0 : corrected);
  }
  outcome.user_attributes[kMetricsAttribute] = Json(metrics);
  return outcome;
}

std::optional<TrialOutcome> SearchObjective::from_cache(TrialRun& run,
                                                        const TrialConfiguration& configuration,
                                                        std::uint64_t seed) {
  const std::optional<TrialRecord> record = cache_.find(configuration, seed, needs_evaluations());
  if (!record) return std::nullopt;
  for (std::size_t i = 0; i < record->evaluations.size(); ++i)
    if (run.report(static_cast<std::int64_t>(i) + 1, reported(record->evaluations[i])))
      return TrialOutcome{.state = TrialState::pruned};
  TrialOutcome outcome = outcome_of(record->metrics);
  outcome.user_attributes[kCachedAttribute] = true;
  if (record->cpu_seconds) outcome.user_attributes[kCpuSecondsAttribute] = *record->cpu_seconds;
  if (!record->allocated.is_null())
    outcome.user_attributes[kAllocatedAttribute] = record->allocated;
  return outcome;
}

// If pruned trials may be promoted, they store checkpoints. A promoted trial loads them with the metrics until then.
std::unique_ptr<ScratchFolder> SearchObjective::checkpoints_for(
    TrialRun& run, const TrialConfiguration& configuration, std::uint64_t seed, TrialRecord& record,
    TrialProgress& progress) {
  if (job_.budget.promote_by == 0 || !cache_.keeps()) return nullptr;
  std::error_code ignored;  // the next line reports errors
  fs::create_directories(job_.cache, ignored);
  auto scratch = std::make_unique<ScratchFolder>(job_.cache / "trial");
  progress.folder = scratch->path() / "trainings";
  if (!run.trial().user_attributes.contains("continues")) return scratch;
  const std::int64_t seen = std::ssize(run.trial().reports);
  if (auto evaluations = cache_.restore_checkpoints(configuration, seed, seen, progress.folder)) {
    record.evaluations = std::move(*evaluations);
    progress.evaluations = seen;
    run.set_user_attribute(kFromCheckpointAttribute, true);
  }
  return scratch;
}

TrialOutcome SearchObjective::computed(TrialRun& run, const TrialConfiguration& configuration,
                                       std::uint64_t seed) {
  TrialRecord record;
  TrialProgress progress{.trained = cache_.trainings(/*large=*/false),
                         .teacher_logits = &teacher_logits_,
                         .layer_divergences = &layer_divergences_};
  const std::unique_ptr<ScratchFolder> scratch =
      checkpoints_for(run, configuration, seed, record, progress);
  EvaluationCallback watch;
  if (needs_evaluations())
    watch = [&](std::int64_t evaluation, const std::map<std::string, double>& metrics) {
      record.evaluations.push_back(metrics);
      return !run.report(evaluation, reported(metrics));
    };
  const bool times = measures_latency();
  MachineLock shared(times ? machine_lock_ : fs::path(), LOCK_SH);
  const double begin = steady_seconds(), cpu_begin = cpu_seconds();
  TrialModel trial = run_trial(subject_, space_, configuration, seed, watch, progress, context_);
  // The cost of a trial includes trainings that came from the cache.
  record.seconds = steady_seconds() - begin + trial.stored_seconds;
  // The CPU time of the process, which runs one trial at a time.
  record.cpu_seconds = cpu_seconds() - cpu_begin + trial.stored_cpu_seconds;
  if (trial.stored_seconds > 0) run.set_user_attribute(kTrainedBeforeAttribute, true);
  TrialOutcome outcome{.state = TrialState::pruned};
  if (!trial.ended_early) {
    record.metrics = trial.metrics;
    record.intervals = trial.intervals;
    record.allocated = trial.allocated;
    if (times) {
      shared.release();
      trial.metrics[kLatencyMetric] = batch1_latency_ms(trial.model);
    } else {
      cache_.keep(configuration, seed, needs_evaluations(), record);
    }
    outcome = outcome_of(trial.metrics);
    if (!trial.allocated.is_null()) outcome.user_attributes[kAllocatedAttribute] = trial.allocated;
    keep_if_best(run.trial(), outcome, std::move(trial));
  } else if (scratch) {
    cache_.store_checkpoints(configuration, seed, record.evaluations, progress.folder);
  }
  outcome.user_attributes[kSecondsAttribute] = record.seconds;
  outcome.user_attributes[kCpuSecondsAttribute] = *record.cpu_seconds;
  return outcome;
}

void SearchObjective::keep_if_best(const Trial& trial, const TrialOutcome& outcome,
                                   TrialModel model) {
  const bool feasible =
      std::ranges::all_of(outcome.constraints, [](double violation) { return violation <= 0; });
  const double loss = loss_of(outcome.values.front(), space_.recipe().objectives.front().direction);
  if (feasible && (!kept_ || loss < kept_->loss))
    kept_ = KeptTrial{trial.number, loss, std::move(model)};
}

TrialOutcome SearchObjective::operator()(TrialRun& run) {
  const QuietTrial quiet(context_);
  const TrialConfiguration configuration = space_.configuration_of(run.values());
  run.set_user_attribute(kConfigurationAttribute, to_json(configuration));
  const std::uint64_t seed = seed_of(run.trial());
  // Latencies are not cached, because they vary between runs.
  if (!measures_latency())
    if (const std::optional<TrialOutcome> known = from_cache(run, configuration, seed))
      return *known;
  return computed(run, configuration, seed);
}

TrialModel SearchObjective::model_of(const Trial& trial) {
  if (kept_ && kept_->number == trial.number) return kept_->model;
  return run_trial(subject_, space_, space_.configuration_of(assignment_of(trial.parameters)),
                   seed_of(trial), /*watch=*/{}, {.trained = cache_.trainings(/*large=*/false)},
                   context_);
}

}  // namespace hone
