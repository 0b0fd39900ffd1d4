#include "hone/jobs/shrink/shrink_trials.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "hone/base/interrupt.h"
#include "hone/jobs/allocation/best_allocation.h"
#include "hone/jobs/search/recipe_sections.h"
#include "hone/jobs/search/search_objective.h"
#include "hone/jobs/search/search_report.h"
#include "hone/jobs/search/study_tables.h"
#include "hone/metrics/verdict_text.h"
#include "hone/models/model_size.h"
#include "hone/models/transform.h"
#include "hone/search/engine/recovery.h"
#include "hone/search/engine/trial_table.h"
#include "hone/train/text_examples.h"

namespace hone {
namespace {

constexpr const char* kStudyName = "shrink";
/// Bounds on the texts for measuring levels, or layer formats, and the share of the budget for each of them.
constexpr std::int64_t kFewestTexts = 16, kMostTexts = 128;
constexpr double kPredictingShare = 0.05;
constexpr std::int64_t kFewestRounds = 3;
/// Texts of a quick calibration.
constexpr std::int64_t kRangesOf = 64;
/// Interruptions after which a candidate counts as failed.
constexpr std::int64_t kMostInterruptions = 20;
/// Study attribute with the key of the training that the checkpoints belong to.
constexpr const char* kTraining = "training_of";
// User attributes of trials, in addition to those of a search.
constexpr const char *kPredicted = "predicted", *kJudged = "judged";
/// Study attribute with the effects of levels.
constexpr const char* kEffects = "effects";

/// Damage of predictions that are not finite.
constexpr double kHopelessDamage = 1e6;

// Replaces the validation split by training texts, so that predictions do not depend on the texts that judge.
TrialSubject on_training_texts(const TrialSubject& subject, std::int64_t texts, Context& context) {
  TrialSubject sampled = subject;
  sampled.data.validation = allocation_sample(subject.data.train, texts, subject.seed);
  sampled.calibration = quick_calibration(subject.calibration);
  sampled.baseline_measured =
      measure(subject.baseline.model, sampled.data.validation, subject.training.eval_batch_size,
              context, "predict", ProgressEnd::vanishes);
  return sampled;
}

// Returns the narrow format of linear layers, if it does not vary.
std::string narrow_format(const SearchRecipe& recipe) {
  return settings_of<NativeSection>(fixed_values(recipe.native)).narrow;
}

// Returns the structure of pruned weights, if it does not vary.
std::string pruned_structure(const SearchRecipe& recipe) {
  return structure_text(
      settings_of<PruningSection>(fixed_values(recipe.pruning)).weights.rule.structure);
}

}  // namespace

const Fields& fields_of(const CandidatePrediction*) {
  using C = CandidatePrediction;
  static const Fields fields = describe<C>(
      "shrink_prediction", "Predictions for a candidate before it was made.", inlined<&C::shares>(),
      field<&C::chance>("chance", Unit::share, "Chance to be within the limit."),
      field<&C::seconds>("seconds", Unit::seconds, "Time to make and evaluate it."),
      field<&C::damage>("damage", Unit::nats,
                        "Divergence of its predictions without training, the sum over all steps."));
  return fields;
}

const Fields& fields_of(const CandidateMeasurement*) {
  using C = CandidateMeasurement;
  static const Fields fields = describe<C>(
      "shrink_measurement", "Measurements of a candidate, on the split that decides.",
      inlined<&C::shares>(),
      field<&C::batch_latency_interval>(
          "latency_share_interval", Unit::ratio,
          "95% interval of latency_share, from the rounds of this timing."),
      field<&C::batch1_latency_interval>("batch_1_latency_share_interval", Unit::ratio,
                                         "The same for batch_1_latency_share."),
      field<&C::metric>("metric", "The metric by which the task is judged; null: not defined.")
          .or_null(),
      field<&C::metric_interval>("metric_interval", "Its 95% interval."),
      field<&C::change>("change", Unit::difference,
                        "Metric minus that of the baseline; null: not defined.")
          .or_null(),
      field<&C::change_interval>("change_interval", Unit::difference,
                                 "95% interval of the change, of this evaluation alone."),
      field<&C::flip_share>("flip_share", Unit::share,
                            "Predictions that changed; null for regression."),
      field<&C::conclusion>("verdict", "By all gates, corrected for all evaluations."),
      field<&C::missed>("gates_missed",
                        "Gates with that verdict, as they were given; empty: all are "
                        "within their limits."),
      field<&C::p_value>("p_value",
                         "p-value of a drop by the margin or more, by the gate that is the hardest "
                         "to pass, corrected for all evaluations.")
          .or_null(),
      field<&C::examples_needed>("examples_needed", Unit::examples,
                                 "Different examples of this split that would show it to be within "
                                 "the limit, power 80%, by the gate that needs most; null: it is "
                                 "shown, or more examples would not show it."),
      field<&C::summary>("summary", "The verdict as a clause."),
      field<&C::seconds>("seconds", Unit::seconds, "Time to make and evaluate it."));
  return fields;
}

std::string candidate_verdict(const CandidateMeasurement& measured,
                              const std::vector<Gate>& gates) {
  std::vector<std::string> names;
  for (const Gate& gate : gates)
    if (std::ranges::find(measured.missed, gate.text) != measured.missed.end())
      names.push_back(gate.metric.text);
  return gates.size() == 1 || names.empty()
             ? to_string(measured.conclusion)
             : fmt::format("{} for {}", to_string(measured.conclusion), fmt::join(names, ", "));
}

std::string candidate_change(const CandidateMeasurement& measured, const MetricName& figure,
                             const std::vector<Gate>& gates, std::int64_t max_evaluations) {
  const auto gate = std::ranges::find(gates, figure, &Gate::metric);
  const bool is_missed = gate != gates.end() &&
                         std::ranges::find(measured.missed, gate->text) != measured.missed.end();
  const auto& [low, high] = measured.change_interval;
  const std::int64_t tests = max_evaluations * std::ssize(gates);
  const bool decides_alone = tests > 1 && measured.conclusion == Conclusion::inconclusive &&
                             is_missed && (low >= -gate->margin || high < -gate->margin);
  return fmt::format("{}: {}{}",
                     change_text({.metric = figure,
                                  .change = measured.change,
                                  .change_interval = measured.change_interval}),
                     candidate_verdict(measured, gates),
                     decides_alone ? fmt::format(" after correction for {} tests", tests) : "");
}

const Fields& fields_of(const JudgedCandidate*) {
  using J = JudgedCandidate;
  static const Fields fields = describe<J>(
      "shrink_candidate", "A candidate that was made and evaluated.",
      field<&J::number>("candidate", "Its number, from 1."),
      field<&J::trial>("trial", "Its number in study.db."), omitted<&J::point>(),
      field<&J::recipe>("recipe", "Everything that was done to the baseline."),
      field<&J::predicted>("predicted", "Its predictions, before it was made."),
      inlined<&J::measured>(),
      field<&J::failure>("failure", "Why it could not be made; null: it was made."),
      field<&J::trained_before>("trained_before", "Whether an earlier run had trained it."),
      field<&J::chosen>("chosen", "Whether it is the result."));
  return fields;
}

const Fields& fields_of(const PlanningCounts*) {
  using P = PlanningCounts;
  static const Fields fields = describe<P>(
      "planning_texts", "Training texts on which predictions are made.",
      field<&P::levels>("levels", Unit::examples, "Of these, texts for values of parameters."),
      field<&P::layers>("layers", Unit::examples, "Of these, texts for formats of layers."),
      field<&P::rounds>("rounds", "Rounds of each timing."));
  return fields;
}

CalibrationRun quick_calibration(CalibrationRun calibration) {
  calibration.batch_count = std::max<std::int64_t>(1, kRangesOf / calibration.batch_size);
  return calibration;
}

ShrinkTrials::ShrinkTrials(const TrialSubject& subject, const TrialSpace& space,
                           const ShrinkGate& gate, std::string shared_changes, ShrinkTimer& timer,
                           const fs::path& file, const fs::path& cache, const fs::path& checkpoints,
                           Context& context)
    : subject_(subject),
      space_(space),
      gate_(gate),
      shared_changes_(std::move(shared_changes)),
      timer_(timer),
      checkpoints_(checkpoints),
      context_(context),
      parameters_(shrink_parameters(space.space(), space.index_values(),
                                    narrow_format(space.recipe()),
                                    pruned_structure(space.recipe()))),
      cache_(cache, subject),
      storage_(open_storage(file.string())) {
  if (const std::optional<Study> known = storage_->find_study(kStudyName)) {
    study_ = *known;
    return;
  }
  const Json names = {subject.baseline_measured->evaluation.metric.text, "size in bytes",
                      "ms per example"};
  study_ = storage_->create_study(
      kStudyName, {Direction::maximize, Direction::minimize, Direction::minimize},
      {.user_attributes = {{kIndexValuesAttribute, space.index_values()},
                           {kMeasuredOnAttribute, measured_on(subject.data.measured_choice())}},
       .system_attributes = {{kMetricNamesAttribute, names},
                             {"dashboard:objective_names", names}}});
}

Json ShrinkTrials::attribute(const std::string& key) const {
  const auto found = study_.user_attributes.find(key);
  return found == study_.user_attributes.end() ? Json() : found->second;
}

void ShrinkTrials::set_attribute(const std::string& key, const Json& value) {
  store(key, value);
  study_.user_attributes[key] = value;
}

void ShrinkTrials::store(const std::string& key, const Json& value) {
  storage_->set_study_attribute(study_.id, AttributeOwner::user, key, value);
}

TrialConfiguration ShrinkTrials::configuration_of(const ShrinkPoint& point) const {
  return space_.configuration_of(hone::assignment_of(parameters_, point));
}

TrialModel ShrinkTrials::build(const TrialSubject& subject,
                               const TrialConfiguration& configuration) {
  // Checkpoints are valid only for the interrupted training.
  const std::string key = cache_.key(configuration, subject.seed, /*watched=*/false);
  if (attribute(kTraining) != key) {
    remove_checkpoints();
    set_attribute(kTraining, key);
  }
  TrialProgress progress{.folder = checkpoints_,
                         .trained = trainings(),
                         .teacher_logits = &teacher_logits_,
                         .layer_divergences = &layer_divergences_};
  trained_before_ = false;
  TrialModel model =
      run_trial(subject, space_, configuration, subject.seed, /*watch=*/{}, progress, context_);
  // The model is not trained further, so masks would only take memory.
  transform(model.model, "unprune", context_.session());
  remove_checkpoints();
  return model;
}

TrainingCache ShrinkTrials::trainings() {
  const TrainingCache cached = cache_.trainings(/*large=*/true);
  return {.find =
              [this, cached](const Json& of) {
                std::optional<FinishedTraining> known = cached.find(of);
                if (known && !trained_here_.contains(to_line(of))) trained_before_ = true;
                return known;
              },
          .keep =
              [this, cached](const Json& of, const FinishedTraining& training) {
                cached.keep(of, training);
                trained_here_.insert(to_line(of));
              }};
}

void ShrinkTrials::remove_checkpoints() const {
  std::error_code ignored;
  for (const char* training : {kFirstTraining, kSecondTraining})
    fs::remove_all(checkpoints_ / training, ignored);
  fs::remove(checkpoints_, ignored);  // stays if it contains other files
}

std::string ShrinkTrials::key_of(const ShrinkPoint& point) const {
  return to_line(hone::to_json(configuration_of(point)));
}

std::string ShrinkTrials::recipe_of(const ShrinkPoint& point) const {
  const std::string steps = recipe_text(parameters_, point);
  return shared_changes_ + (shared_changes_.empty() || steps.empty() ? "" : ", ") + steps;
}

// Returns the point at which a parameter is measured: all first levels, or another parameter at its second level if
// this one has no effect without it, such as a narrow share without a format. Pruning is measured with native linears
// if possible, because it has little effect in fp32: files of fp32 weights keep zeros.
ShrinkPoint ShrinkTrials::reference_point_of(std::size_t parameter) const {
  ShrinkPoint begin(parameters_.size(), 0);
  const auto linears = std::ranges::find(parameters_, "native.linears", &ShrinkParameter::name);
  if (parameters_[parameter].is_pruning() && linears != parameters_.end() &&
      linears->decoded.front() == NativeSection().linears) {
    ShrinkPoint context = begin;
    context[static_cast<std::size_t>(linears - parameters_.begin())] = 1;
    return context;
  }
  const auto does_something = [&](ShrinkPoint point) {
    const std::string before = key_of(point);
    point[parameter] = 1;
    return key_of(point) != before;
  };
  if (does_something(begin)) return begin;
  for (std::size_t other = 0; other < parameters_.size(); ++other) {
    if (other == parameter || !parameters_[other].compresses()) continue;
    ShrinkPoint context = begin;
    context[other] = 1;
    if (does_something(context)) return context;
  }
  return begin;
}

LevelEffect ShrinkTrials::measured_effect(const TrialSubject& sampled, const ShrinkPoint& point,
                                          std::int64_t rounds) {
  const TrialModel model = build(sampled, configuration_of(point));
  const double damage = model.metrics.at(kDivergenceMetric);
  const auto [full_batch, single] = timer_.times(model.model, rounds);
  // A bad timing would be a factor of every prediction. With few or noisy rounds, the latency share of a batch is a
  // better estimate for batch size 1.
  const bool follows = !single.interval || Speedup{.interval = single.interval}.noisy();
  return {timer_.stored(model.model), full_batch.value, follows ? full_batch.value : single.value,
          std::isfinite(damage) ? damage : kHopelessDamage};
}

PlanningCounts ShrinkTrials::planning_counts(double budget_seconds) {
  constexpr const char* kPredictedOn = "predicted_on";
  if (const Json known = attribute(kPredictedOn); !known.is_null())
    return from_json<PlanningCounts>(known);
  const auto paid = [&](double seconds_of_one, std::int64_t fewest, std::int64_t most) {
    const double count = std::min(kPredictingShare * budget_seconds / seconds_of_one, 1e6);
    return std::clamp(static_cast<std::int64_t>(count), fewest, most);
  };
  const auto texts = [&](std::int64_t runs) {
    return paid(timer_.ms() / 1000 * static_cast<double>(runs), kFewestTexts, kMostTexts);
  };
  const std::int64_t models = std::ssize(measured_keys());
  const double round = timer_.seconds(1) - timer_.seconds(0);
  // Each linear is measured in two formats, each of which runs the rest of the model, half of it on average.
  const std::int64_t linears = std::ssize(subject_.baseline.model.graph.operations(kDefaultLayer));
  const PlanningCounts planning{
      .levels = texts(models),
      .layers = texts(std::max<std::int64_t>(1, linears)),
      .rounds = paid(round * static_cast<double>(models), kFewestRounds, kShrinkTimerRounds)};
  set_attribute(kPredictedOn, hone::to_json(planning));
  return planning;
}

std::set<std::string> ShrinkTrials::measured_keys() const {
  std::set<std::string> meanings = {key_of(ShrinkPoint(parameters_.size(), 0))};
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    if (!parameters_[i].compresses()) continue;
    ShrinkPoint point = reference_point_of(i);
    for (point[i] = 0; point[i] < parameters_[i].values.size(); ++point[i])
      meanings.insert(key_of(point));
  }
  return meanings;
}

double ShrinkTrials::effects_seconds(const PlanningCounts& planning) const {
  const Json known = attribute(kEffects);
  const auto left = std::ranges::count_if(
      measured_keys(), [&](const std::string& one) { return !known.contains(one); });
  return static_cast<double>(left) *
         (timer_.seconds(planning.rounds) +
          static_cast<double>(planning.levels + kRangesOf) * timer_.ms() / 1000);
}

MeasuredEffects ShrinkTrials::effects(const PlanningCounts& planning) {
  Json known = attribute(kEffects);
  if (known.is_null()) known = Json::object();
  std::optional<TrialSubject> sampled;  // created only if something has to be measured
  std::int64_t done = 0;
  std::int64_t steps = 1;  // the starting point
  for (const ShrinkParameter& one : parameters_)
    if (one.compresses()) steps += std::ssize(one.values) - 1;
  Progress progress("measure the effect of each step", steps,
                    {.unit = "steps", .output = context_.progress});
  const auto measured = [&](const ShrinkPoint& point) {
    const std::string key = key_of(point);
    if (!known.contains(key)) {
      if (!sampled) sampled = on_training_texts(subject_, planning.levels, context_);
      known[key] = hone::to_json(measured_effect(*sampled, point, planning.rounds));
      set_attribute(kEffects, known);
    }
    return from_json<LevelEffect>(known[key]);
  };
  const ShrinkPoint begin(parameters_.size(), 0);
  MeasuredEffects all{.begin = measured(begin),
                      .levels = LevelEffects(parameters_.size()),
                      .reference_points = std::vector<ShrinkPoint>(parameters_.size(), begin)};
  LevelEffects& effects = all.levels;
  progress.update(++done);
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    if (!parameters_[i].compresses()) continue;
    effects[i].resize(parameters_[i].values.size());
    all.reference_points[i] = reference_point_of(i);
    const ShrinkPoint& context = all.reference_points[i];
    const LevelEffect before = measured(context);
    for (std::size_t level = 1; level < effects[i].size(); ++level) {
      stop_if_interrupted();
      ShrinkPoint point = context;
      point[i] = level;
      const LevelEffect after = measured(point);
      LevelEffect& effect = effects[i][level];
      effect = {.batch_latency = after.batch_latency / before.batch_latency,
                .batch1_latency = after.batch1_latency / before.batch1_latency,
                .damage = std::max(0.0, after.damage - before.damage)};
      for (const auto& [kind, bytes] : before.bytes) {
        const auto left = after.bytes.find(kind);
        effect.bytes[kind] = left == after.bytes.end() ? 0 : left->second / bytes;
      }
      progress.update(++done, recipe_text(parameters_, point));
    }
  }
  return all;
}

TrialModel ShrinkTrials::model_of(const ShrinkPoint& point) {
  return build(subject_, configuration_of(point));
}

TrialOutcome ShrinkTrials::run(TrialRun& run) {
  const TrialConfiguration configuration = space_.configuration_of(run.values());
  run.set_user_attribute(kConfigurationAttribute, hone::to_json(configuration));
  const auto begin = std::chrono::steady_clock::now();
  const TrialModel model = build(subject_, configuration);
  if (trained_before_) run.set_user_attribute(kTrainedBeforeAttribute, true);
  const Truth truth = truth_of(subject_.data.validation);
  const TaskComparison comparison = compare(gate_.original.view(), model.measurement.view(), truth);
  const JudgedGates judged = judge(gate_.gates, gate_.original.view(), model.measurement.view(),
                                   truth, gate_.max_evaluations);
  const GateVerdict& verdict = judged.verdict;
  const Verdict& hardest_gate = hardest(verdict);
  const ShrinkTimer::Times times = timer_.times(model.model);
  const double bytes = static_cast<double>(stored_bytes(model.model));
  const ShrinkShares shares{.bytes = bytes / static_cast<double>(timer_.original_bytes()),
                            .batch_latency = times.full_batch.value,
                            .batch1_latency = times.single.value};
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  TrialOutcome outcome;
  const TaskEvaluation& evaluation = model.measurement.evaluation;
  outcome.values = {evaluation.value, bytes, shares.batch_latency * timer_.ms()};
  // Kept if the p-value, corrected for all evaluations and gates, is at most 0.025.
  outcome.constraints = {verdict.within_limit() ? 0.0
                                                : std::max(1e-9, hardest_gate.p_value - 0.025)};
  const Interval unknown{std::nan(""), std::nan("")};
  outcome.user_attributes[kMetricsAttribute] = Json(model.metrics);
  outcome.user_attributes[kSecondsAttribute] = seconds.count();
  CandidateMeasurement measured{.shares = shares,
                                .batch_latency_interval = times.full_batch.interval,
                                .batch1_latency_interval = times.single.interval,
                                .metric = evaluation.value,
                                .metric_interval = evaluation.interval,
                                .change = comparison.change.change,
                                .change_interval = comparison.change.interval.value_or(unknown),
                                .conclusion = verdict.conclusion,
                                .p_value = hardest_gate.p_value,
                                .examples_needed = examples_needed(
                                    judged, subject_.data.measured_choice().facts.effective_rows()),
                                .summary = verdict.summary,
                                .seconds = seconds.count()};
  for (std::size_t i = 0; i < judged.gates.size(); ++i)
    if (!verdict.within_limit() && verdict.gates[i].conclusion == verdict.conclusion)
      measured.missed.push_back(judged.gates[i].text);
  if (comparison.counted) measured.flip_share = comparison.counted->flip_share;
  outcome.user_attributes[kJudged] = hone::to_json(measured);
  return outcome;
}

void ShrinkTrials::evaluate(const ShrinkStep& step, std::int64_t number) {
  Trial waiting{.state = TrialState::waiting};
  Json values = Json::object();
  for (const auto& [name, value] : hone::assignment_of(parameters_, step.point))
    values[name] = value;
  waiting.system_attributes["fixed_params"] = values;
  waiting.user_attributes[kCandidateAttribute] = number;
  waiting.user_attributes[kRecipeAttribute] = recipe_of(step.point);
  waiting.user_attributes[kPredicted] =
      hone::to_json(CandidatePrediction{step.shares, step.chance, step.seconds, step.damage});
  storage_->create_trial(study_.id, waiting);
  finish_interrupted();
}

void ShrinkTrials::finish_interrupted() {
  storage_->read_trials(study_.id, trials_);
  // Retries of interrupted trials are extra. If they counted here, the search would sample points of its own.
  const auto own = std::ranges::count_if(trials_, [](const auto& trial) {
    return !trial->system_attributes.contains("failed_trial");
  });
  if (own == 0) return;
  const SearchOptions options{.study = kStudyName,
                              .directions = study_.directions,
                              .space = space_.space(),
                              .trials = own,
                              .avoid_duplicates = false,
                              .retries = kMostInterruptions};
  SearchCallbacks callbacks;
  callbacks.on_warning = [&](const std::string& sentence) { print_warnings(context_, {sentence}); };
  // All values are fixed, so the sampler is never called.
  const auto sampler = random_sampler({.seed = subject_.seed});
  run_search(
      *storage_, *sampler, *no_pruner(), [&](TrialRun& trial) { return run(trial); }, options,
      callbacks);
  stop_if_interrupted();
}

std::vector<JudgedCandidate> ShrinkTrials::judged() {
  storage_->read_trials(study_.id, trials_);
  std::vector<JudgedCandidate> points;
  for (const auto& trial : trials_) {
    const auto& attributes = trial->user_attributes;
    // An interrupted trial runs again under another number.
    if (!is_finished(trial->state) || trial->system_attributes.contains(kRunAgain)) continue;
    const std::optional<ShrinkPoint> point =
        point_of(parameters_, hone::assignment_of(trial->parameters));
    if (!point) continue;
    JudgedCandidate one{.number = std::ssize(points) + 1, .trial = trial->number, .point = *point};
    one.recipe = recipe_of(*point);
    one.trained_before = attributes.contains(kTrainedBeforeAttribute);
    if (const auto stored_prediction = attributes.find(kPredicted);
        stored_prediction != attributes.end())
      one.predicted = from_json<CandidatePrediction>(stored_prediction->second);
    if (trial->state == TrialState::complete)
      one.measured = from_json<CandidateMeasurement>(attributes.at(kJudged));
    else
      one.failure = failure_of(*trial);
    points.push_back(std::move(one));
  }
  return points;
}

}  // namespace hone
