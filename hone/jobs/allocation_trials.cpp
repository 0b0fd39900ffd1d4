#include "hone/jobs/allocation_trials.h"

#include <algorithm>
#include <cmath>

#include "hone/base/interrupt.h"
#include "hone/base/percentage.h"
#include "hone/jobs/quiet_trial.h"
#include "hone/jobs/search_objective.h"
#include "hone/jobs/search_report.h"
#include "hone/search/engine/trial_table.h"
#include "hone/study/comparison_table.h"
#include "hone/train/text_examples.h"

namespace hone {
namespace {

constexpr const char* kStudyName = "allocation";
// User attributes of trials beside those of a search.
constexpr const char *kKind = "kind", *kPredicted = "predicted", *kDivergence = "divergence",
                     *kFigure = "figure";
constexpr std::string_view kKinds[] = {"front", "swap"};

std::string parameter_of(const std::string& layer) { return layer + ".format"; }

Json with_interval(double value, double low, double high) { return {value, low, high}; }

double number_at(const Json& list, std::size_t i) {
  return list.at(i).is_number() ? list.at(i).get<double>() : std::nan("");
}

}  // namespace

std::string_view to_string(PointKind kind) { return kKinds[static_cast<std::size_t>(kind)]; }

SearchRecipe allocation_space(const std::vector<FormatOption>& options) {
  PrecisionGroup group{.operands = {}};
  for (const FormatOption& option : options) group.formats.push_back({option.text, option.text});
  const auto formats = std::ranges::find_if(
      options, [](const FormatOption& option) { return option.formats.has_value(); });
  for (const Operand operand : kReadOperands)
    if ((*formats->formats)[operand]) group.operands.emplace_back(to_string(operand));
  return {.where = "`options`", .text = {}, .objectives = {}, .precision = {group}};
}

AllocationTrials::AllocationTrials(const TrialSubject& subject, const LayerCosts& costs,
                                   const std::vector<FormatOption>& options,
                                   const std::vector<AllocationBudget>& budgets,
                                   const fs::path& file, Context& context)
    : subject_(subject),
      costs_(costs),
      options_(options),
      budgets_(budgets),
      context_(context),
      space_(allocation_space(options),
             [&costs](const Json&) { return LinearNames{.all = costs.layers, .square = {}}; }),
      storage_(open_storage(file.string())) {
  if (const std::optional<Study> known = storage_->find_study(kStudyName)) {
    study_ = *known;
    return;
  }
  study_ = storage_->create_study(kStudyName, {Direction::minimize, Direction::minimize});
  const Json names = {"divergence", to_string(budgets.front().figure)};
  for (const char* key : {"study:metric_names", "dashboard:objective_names"})
    storage_->set_study_attribute(study_.id, AttributeOwner::system, key, names);
}

Json AllocationTrials::remembered(const std::string& key) {
  const auto found = study_.user_attributes.find(key);
  return found == study_.user_attributes.end() ? Json() : found->second;
}

void AllocationTrials::remember(const std::string& key, const Json& value) {
  storage_->set_study_attribute(study_.id, AttributeOwner::user, key, value);
  study_.user_attributes[key] = value;
}

Json AllocationTrials::values_of(const Allocation& allocation) const {
  Json values = Json::object();
  for (std::size_t i = 0; i < allocation.size(); ++i)
    values[parameter_of(costs_.layers[i])] = options_[allocation[i]].text;
  return values;
}

Allocation AllocationTrials::allocation_of(const Assignment& values) const {
  Allocation allocation;
  for (const std::string& layer : costs_.layers) {
    const auto option = std::ranges::find(
        options_, values.at(parameter_of(layer)).get<std::string>(), &FormatOption::text);
    allocation.push_back(static_cast<std::size_t>(option - options_.begin()));
  }
  return allocation;
}

// Waiting trials with these values, of those that there are none of.
void AllocationTrials::enqueue(const std::vector<WantedPoint>& wanted) {
  TrialTable table;
  storage_->read_trials(study_.id, table);
  std::vector<Json> there;
  for (const auto& trial : table)
    if (const auto fixed = trial->system_attributes.find("fixed_params");
        fixed != trial->system_attributes.end())
      there.push_back(fixed->second);
  for (const WantedPoint& point : wanted) {
    const Json values = values_of(point.allocation);
    if (std::ranges::find(there, values) != there.end()) continue;
    there.push_back(values);
    Trial waiting{.state = TrialState::waiting};
    waiting.system_attributes["fixed_params"] = values;
    waiting.user_attributes[kKind] = to_string(point.kind);
    waiting.user_attributes[kPredicted] = point.predicted;
    storage_->create_trial(study_.id, waiting);
  }
}

TrialModel AllocationTrials::trial_model(const TrialConfiguration& configuration) {
  return run_trial(subject_, space_, configuration, subject_.seed, /*watch=*/{}, /*progress=*/{},
                   context_);
}

TrialModel AllocationTrials::model_of(const Allocation& allocation) {
  const Json values = values_of(allocation);
  Assignment assignment;
  for (const auto& [name, value] : values.items()) assignment[name] = value;
  return trial_model(space_.configuration_of(assignment));
}

TrialOutcome AllocationTrials::run(TrialRun& run) {
  const QuietTrial quiet(context_);
  const TrialConfiguration configuration = space_.configuration_of(run.values());
  run.set_user_attribute(kConfigurationAttribute, to_json(configuration));
  const TrialModel made = trial_model(configuration);
  const Divergence found = divergence(subject_.parent_measured->view(), made.measurement.view(),
                                      truth_of(subject_.data.validation));
  if (!std::isfinite(found.mean))
    return {.state = TrialState::fail, .failure = "the model's answers are no numbers"};
  const TaskEvaluation& evaluation = made.measurement.evaluation;
  TrialOutcome outcome;
  const Allocation allocation = allocation_of(run.values());
  outcome.values = {found.mean, costs_.figure(budgets_[0].figure, allocation)};
  for (const AllocationBudget& budget : budgets_)
    outcome.constraints.push_back(costs_.figure(budget.figure, allocation) - budget.most);
  outcome.user_attributes[kFiguresAttribute] = Json(made.figures);
  outcome.user_attributes[kDivergence] = with_interval(found.mean, found.low, found.high);
  outcome.user_attributes[kFigure] =
      with_interval(evaluation.value, evaluation.interval.low, evaluation.interval.high);
  return outcome;
}

std::vector<MeasuredPoint> AllocationTrials::measured() {
  TrialTable table;
  storage_->read_trials(study_.id, table);
  std::vector<MeasuredPoint> points;
  StudyView view;
  for (const auto& trial : table) {
    view.trials.push_back(trial.get());
    if (trial->state != TrialState::complete) continue;
    const auto& attributes = trial->user_attributes;
    MeasuredPoint point{
        .trial = trial->number,
        .kind = attributes.at(kKind) == kKinds[0] ? PointKind::front : PointKind::swap,
        .allocation = allocation_of(assignment_of(trial->parameters)),
        .predicted = attributes.at(kPredicted).get<double>()};
    const Json &far = attributes.at(kDivergence), &figure = attributes.at(kFigure);
    point.divergence = {number_at(far, 0), number_at(far, 1), number_at(far, 2)};
    point.figure = number_at(figure, 0);
    point.figure_interval = {number_at(figure, 1), number_at(figure, 2)};
    point.average_bits = costs_.average_bits(point.allocation);
    point.packed_bytes = costs_.packed_bytes(point.allocation);
    if (!costs_.latency_pieces.empty()) point.latency_ms = costs_.latency_ms(point.allocation);
    points.push_back(std::move(point));
  }
  user_check(!points.empty(), "no allocation could be measured{}", first_failure(view));
  return points;
}

std::vector<MeasuredPoint> AllocationTrials::measure(const std::vector<WantedPoint>& wanted) {
  if (wanted.empty()) return measured();
  enqueue(wanted);
  TrialTable table;
  storage_->read_trials(study_.id, table);
  SearchOptions options{.study = kStudyName,
                        .directions = study_.directions,
                        .space = space_.space(),
                        .avoid_duplicates = false};
  std::int64_t done = 0;
  for (const auto& trial : table) {
    options.trials += trial->system_attributes.contains("failed_trial") ? 0 : 1;
    done += is_finished(trial->state) ? 1 : 0;
  }
  Progress progress("allocate", std::ssize(table),
                    {.unit = "models", .first = done, .output = context_.progress});
  SearchCallbacks callbacks;
  callbacks.on_trial = [&](const Trial& trial, const StudyView&) {
    if (trial.state == TrialState::fail)
      tell_warnings(context_,
                    {fmt::format("trial {} failed: {}", trial.number, failure_of(trial))});
    progress.update(++done,
                    trial.values.empty() ? "" : fmt::format("divergence {:.3g}", trial.values[0]));
  };
  callbacks.on_warning = [&](const std::string& sentence) { tell_warnings(context_, {sentence}); };
  // All values are given: the sampler is never asked.
  const auto sampler = random_sampler({.seed = subject_.seed});
  run_search(
      *storage_, *sampler, *no_pruner(), [&](TrialRun& trial) { return run(trial); }, options,
      callbacks);
  stop_if_interrupted();
  return measured();
}

}  // namespace hone
