#include "hone/jobs/allocation/allocation_trials.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "hone/base/interrupt.h"
#include "hone/base/percentage.h"
#include "hone/base/text.h"
#include "hone/jobs/paired_times.h"
#include "hone/jobs/search/quiet_trial.h"
#include "hone/jobs/search/search_objective.h"
#include "hone/jobs/search/search_report.h"
#include "hone/search/engine/trial_table.h"
#include "hone/study/comparison_table.h"
#include "hone/train/text_examples.h"

namespace hone {
namespace {

constexpr const char* kStudyName = "allocation";
// User attributes of trials, in addition to those of a search.
constexpr const char *kKind = "kind", *kPredicted = "predicted", *kDivergence = "divergence",
                     *kMetric = "metric";

double number_at(const Json& list, std::size_t i) {
  return list.at(i).is_number() ? list.at(i).get<double>() : std::nan("");
}

}  // namespace

std::span<const EnumName> enum_names(PointKind) {
  static constexpr EnumName kWords[] = {{static_cast<int>(PointKind::front), "front"},
                                        {static_cast<int>(PointKind::swap), "swap"}};
  return kWords;
}

SearchRecipe allocation_space(const AllocationRequest& request,
                              const std::vector<std::string>& layers, const FormatTable& formats) {
  Json names = Json::array(), sparsities = Json::array(), structures = Json::array(),
       operands = Json::array(), constraints = Json::array();
  const auto add_once = [](Json& list, const Json& value) {
    if (std::ranges::find(list, value) == list.end()) list.push_back(value);
  };
  for (const LayerOption& option : request.options) {
    if (option.sparsity.share == 0) names.push_back(option.text);
    add_once(sparsities, option.sparsity.share);
    if (option.sparsity.share > 0) add_once(structures, structure_text(option.sparsity.structure));
  }
  const auto some = std::ranges::find_if(
      request.options, [](const LayerOption& option) { return option.formats.has_value(); });
  for (const Operand operand : kReadOperands)
    if (some == request.options.end() || (*some->formats)[operand])
      operands.push_back(to_string(operand));
  for (const AllocationBudget& budget : request.budgets) constraints.push_back(budget.text);
  std::string text =
      fmt::format("minimize = \"{}\"\nconstraints = {}\n", kDivergenceMetric, to_line(constraints));
  const auto group = [&](const std::string& layers, const char* choice) {
    text += fmt::format(
        "\n[[precision]]\nlayers = {}\nchoice = \"{}\"\nformats = {}\n"
        "operands = {}\n",
        to_line(layers), choice, to_line(names), to_line(operands));
    if (sparsities.size() > 1) text += fmt::format("sparsities = {}\n", to_line(sparsities));
    if (!structures.empty() && structures != Json::array({"weights"}))
      text += fmt::format("structure = {}\n", to_line(structures));
  };
  const bool all_tied = std::ranges::all_of(layers, [&](const std::string& layer) {
    return std::ranges::any_of(request.tied,
                               [&](const std::string& glob) { return glob_match(glob, layer); });
  });
  if (!all_tied) group("*", "each");
  for (const std::string& glob : request.tied) group(glob, "together");
  return parse_search_recipe(text, "`formats`", formats);
}

AllocationTrials::AllocationTrials(const TrialSubject& subject, const LayerCosts& costs,
                                   const AllocationRequest& request, SearchRecipe recipe,
                                   const fs::path& file, const fs::path& cache, Context& context)
    : subject_(subject),
      costs_(costs),
      request_(request),
      context_(context),
      space_(std::move(recipe),
             [&costs](const Json&) { return LinearNames{.all = costs.layers, .square = {}}; }),
      cache_(cache, subject),
      storage_(open_storage(file.string())) {
  if (const std::optional<Study> known = storage_->find_study(kStudyName)) {
    study_ = *known;
    return;
  }
  const Json names = {"divergence", to_string(request.budgets.front().quantity)};
  study_ = storage_->create_study(
      kStudyName, {Direction::minimize, Direction::minimize},
      {.system_attributes = {{"study:metric_names", names}, {"dashboard:objective_names", names}}});
}

Json AllocationTrials::attribute(const std::string& key) {
  const auto found = study_.user_attributes.find(key);
  return found == study_.user_attributes.end() ? Json() : found->second;
}

void AllocationTrials::set_attribute(const std::string& key, const Json& value) {
  storage_->set_study_attribute(study_.id, AttributeOwner::user, key, value);
  study_.user_attributes[key] = value;
}

Json AllocationTrials::find_or_compute(const std::string& key, const Json& of,
                                       const std::function<Json()>& find) {
  if (Json known = attribute(key); !known.is_null()) return known;
  std::optional<Json> finding = cache_.find_result(of);
  if (!finding) {
    finding = find();
    cache_.store_result(of, *finding);
  }
  set_attribute(key, *finding);
  return *finding;
}

std::int64_t AllocationTrials::from_store() {
  TrialTable table;
  storage_->read_trials(study_.id, table);
  return std::ranges::count_if(
      table, [](const auto& trial) { return trial->user_attributes.contains(kCachedAttribute); });
}

// The prefix of a layer's parameters: its group's name, or its own.
std::string AllocationTrials::name_of(const std::string& layer) const {
  for (const std::string& glob : request_.tied)
    if (glob_match(glob, layer)) return PrecisionGroup{.layers = {glob}}.name();
  return layer;
}

Json AllocationTrials::decoded_values(const Allocation& allocation) const {
  const std::vector<FormatTemplate>& formats = space_.recipe().precision.front().formats;
  const PrecisionGroup& group = space_.recipe().precision.front();
  Json values = Json::object();
  for (std::size_t i = 0; i < allocation.size(); ++i) {
    const std::string name = name_of(costs_.layers[i]);
    const LayerSparsity& sparsity = request_.options[allocation[i]].sparsity;
    // Options list all formats, then all of them with the first sparsity, and so on.
    if (formats.size() > 1) values[name + ".format"] = formats[allocation[i] % formats.size()].name;
    if (group.sparsity.varies()) values[name + ".sparsity"] = sparsity.share;
    if (group.structure.varies() && sparsity.share > 0)
      values[name + ".structure"] = structure_text(sparsity.structure);
  }
  return values;
}

Json AllocationTrials::values_of(const Allocation& allocation) const {
  Json values = decoded_values(allocation);
  for (const auto& [name, value] : values.items()) value = space_.external_of(name, value);
  return values;
}

Allocation AllocationTrials::allocation_of(const Assignment& values) const {
  const std::vector<FormatTemplate>& formats = space_.recipe().precision.front().formats;
  const TrialConfiguration configuration = space_.configuration_of(values);
  Allocation allocation;
  for (const std::string& layer : costs_.layers) {
    const auto format = values.find(name_of(layer) + ".format");
    std::size_t number = 0;
    while (format != values.end() && format->second != formats[number].name) ++number;
    const LayerSparsity sparsity =
        layer_sparsity_from(configuration.sparsities.value(layer, Json(0.0)));
    while (request_.options[number].sparsity != sparsity) number += formats.size();
    allocation.push_back(number);
  }
  return allocation;
}

std::string AllocationTrials::search_recipe() {
  std::string text = space_.recipe().text;
  for (const MeasuredPoint& point : measured()) {
    if (point.kind != PointKind::front) continue;
    text += "\n[[first]]\n";
    const Json values = decoded_values(point.allocation);
    for (const auto& [name, value] : values.items())
      text += fmt::format("{} = {}\n", to_line(name), to_line(value));
  }
  return text;
}

// Adds waiting trials for the allocations that the study does not contain yet.
void AllocationTrials::enqueue(const std::vector<PlannedPoint>& wanted) {
  TrialTable table;
  storage_->read_trials(study_.id, table);
  std::vector<Json> there;
  for (const auto& trial : table)
    if (const auto fixed = trial->system_attributes.find("fixed_params");
        fixed != trial->system_attributes.end())
      there.push_back(fixed->second);
  for (const PlannedPoint& point : wanted) {
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
  if (best_made_ && best_made_->first == allocation) return best_made_->second;
  const Json values = values_of(allocation);
  Assignment assignment;
  for (const auto& [name, value] : values.items()) assignment[name] = value;
  return trial_model(space_.configuration_of(assignment));
}

TrialRecord AllocationTrials::record_of(const TrialConfiguration& configuration,
                                        const Allocation& allocation) {
  const auto begin = std::chrono::steady_clock::now();
  const double cpu_begin = cpu_seconds();
  const TrialModel made = trial_model(configuration);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  TrialRecord record{.metrics = made.metrics, .intervals = made.intervals};
  record.seconds = seconds.count();
  record.cpu_seconds = cpu_seconds() - cpu_begin;
  cache_.keep(configuration, subject_.seed, /*watched=*/false, record);
  const auto far = [](const TrialModel& trial) { return trial.metrics.at(kDivergenceMetric); };
  if (std::isfinite(far(made)) && within(costs_, request_.budgets, allocation) &&
      (!best_made_ || far(made) < far(best_made_->second)))
    best_made_.emplace(allocation, made);
  return record;
}

TrialOutcome AllocationTrials::run(TrialRun& run) {
  const QuietTrial quiet(context_);
  const TrialConfiguration configuration = space_.configuration_of(run.values());
  run.set_user_attribute(kConfigurationAttribute, to_json(configuration));
  const std::optional<TrialRecord> known =
      cache_.find(configuration, subject_.seed, /*watched=*/false);
  const Allocation allocation = allocation_of(run.values());
  const TrialRecord record = known ? *known : record_of(configuration, allocation);
  const std::vector<double>& far = record.intervals.at(kDivergenceMetric);
  if (!std::isfinite(far[0]))
    return {.state = TrialState::fail, .failure = "the model's predictions are not finite"};
  TrialOutcome outcome;
  outcome.values = {far[0], costs_.total(request_.budgets[0].quantity, allocation)};
  for (const AllocationBudget& budget : request_.budgets)
    outcome.constraints.push_back(costs_.total(budget.quantity, allocation) - budget.limit);
  outcome.user_attributes[kMetricsAttribute] = Json(record.metrics);
  outcome.user_attributes[kDivergence] = far;
  outcome.user_attributes[kMetric] = record.intervals.at(kJudgedMetric);
  if (known) {
    outcome.user_attributes[kCachedAttribute] = true;
  } else {
    outcome.user_attributes[kSecondsAttribute] = record.seconds;
  }
  if (record.cpu_seconds) outcome.user_attributes[kCpuSecondsAttribute] = *record.cpu_seconds;
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
    MeasuredPoint point{.trial = trial->number,
                        .kind = attributes.at(kKind) == to_string(PointKind::front)
                                    ? PointKind::front
                                    : PointKind::swap,
                        .allocation = allocation_of(assignment_of(trial->parameters)),
                        .predicted = attributes.at(kPredicted).get<double>()};
    const Json &far = attributes.at(kDivergence), &metric = attributes.at(kMetric);
    point.divergence = {number_at(far, 0), number_at(far, 1), number_at(far, 2)};
    point.metric = number_at(metric, 0);
    point.metric_interval = {number_at(metric, 1), number_at(metric, 2)};
    point.average_bits = costs_.average_bits(point.allocation);
    point.packed_bytes = costs_.packed_bytes(point.allocation);
    if (!costs_.latency_units.empty()) point.latency_ms = costs_.latency_ms(point.allocation);
    points.push_back(std::move(point));
  }
  user_check(!points.empty(), "no allocation could be measured{}", first_failure(view));
  return points;
}

std::vector<MeasuredPoint> AllocationTrials::measure(const std::vector<PlannedPoint>& wanted) {
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
      print_warnings(context_, {fmt::format("trial {} failed: {}", shown_number(trial.number),
                                            failure_of(trial))});
    progress.update(++done,
                    trial.values.empty() ? "" : fmt::format("divergence {:.3g}", trial.values[0]));
  };
  callbacks.on_warning = [&](const std::string& sentence) { print_warnings(context_, {sentence}); };
  // All values are fixed, so the sampler is never called.
  const auto sampler = random_sampler({.seed = subject_.seed});
  run_search(
      *storage_, *sampler, *no_pruner(), [&](TrialRun& trial) { return run(trial); }, options,
      callbacks);
  stop_if_interrupted();
  return measured();
}

}  // namespace hone
