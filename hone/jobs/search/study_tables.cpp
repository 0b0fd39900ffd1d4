#include "hone/jobs/search/study_tables.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <vector>

#include "hone/base/json.h"
#include "hone/base/text.h"
#include "hone/formats/format.h"
#include "hone/metrics/metric_name.h"
#include "hone/metrics/proportion.h"
#include "hone/search/engine/trial_table.h"
#include "hone/study/result.h"

namespace hone {
namespace {

constexpr std::size_t kShownTrials = 20;
constexpr std::string_view kFormatSuffix =
    ".format";  // suffix of parameters that are layer formats

// Returns trials best first by the first objective; with several objectives only the Pareto front.
std::vector<const Trial*> ranked(const DescribedStudy& study) {
  std::vector<const Trial*> trials =
      study.view.has_several_objectives() ? pareto_front(study.view) : study.view.trials;
  std::erase_if(trials, [](const Trial* trial) {
    return trial->state != TrialState::complete || trial->violation() != 0 || is_repetition(*trial);
  });
  std::ranges::stable_sort(trials, {}, [&](const Trial* trial) {
    return loss_of(trial->values[0], study.view.directions[0]);
  });
  return trials;
}

// Returns the names in the order of their first use.
std::vector<std::string> parameter_names(const StudyView& study) {
  std::vector<std::string> names;
  for (const Trial* trial : study.trials)
    for (const TrialParameter& parameter : trial->parameters)
      if (std::ranges::find(names, parameter.name) == names.end()) names.push_back(parameter.name);
  return names;
}

// Returns whether a metric gets its own column: trials have it, and it is not an objective.
bool has_own_column(const DescribedStudy& study, const std::string& metric) {
  return std::ranges::find(study.objectives, metric) == study.objectives.end() &&
         std::ranges::any_of(study.view.trials, [&](const Trial* trial) {
           return std::isfinite(metric_in(*trial, metric));
         });
}

// Returns the title, with its unit if it has one.
std::string objective_title(const std::string& formula) {
  if (formula == "latency_ms") return "latency_ms (ms per example, batch size 1)";
  return formula == "packed_bytes" ? "packed_bytes (bytes)" : formula;
}

Cell cell_of(const Json& value) {
  return value.is_null()     ? Cell(absent)
         : value.is_string() ? Cell(value.get<std::string>())
                             : Cell(to_line(value));
}

bool is_candidate(const Trial* trial) {
  return trial->user_attributes.contains(kCandidateAttribute);
}

Json value_or_null(const Trial& trial, const char* attribute) {
  const auto found = trial.user_attributes.find(attribute);
  return found == trial.user_attributes.end() ? Json() : found->second;
}

// Returns an accuracy as a share of examples; none for other metrics, and if the examples are not known.
std::optional<Proportion> proportion_of(const DescribedStudy& study, const std::string& metric,
                                        double value) {
  const Json& rows = value_at(study.measured_on, "n");
  if (metric != kAccuracy.key || !rows.is_number_integer()) return std::nullopt;
  const auto n = rows.get<std::int64_t>();
  if (n <= 0 || !(value >= 0 && value <= 1)) return std::nullopt;
  const double effective = value_at(study.measured_on, "effective_n").get<double>();
  return Proportion{std::llround(value * static_cast<double>(n)), n,
                    effective / static_cast<double>(n)};
}

Cell proportion_cell(const Proportion& share, double value) {
  const Interval interval = wilson_interval(share.successes, share.trials, share.evidence);
  return percent_within(value, interval.low, interval.high);
}

Cell value_cell(const DescribedStudy& study, std::size_t index, double value) {
  if (const auto share = proportion_of(study, study.objectives[index], value))
    return proportion_cell(*share, value);
  constexpr double kLarge = 1000;
  if (std::abs(value) >= kLarge && std::round(value) == value) return std::llround(value);
  return real(value, kObjectiveDigits);
}

/// A metric with a column in tables of trials.
struct ShownMetric {
  std::string name, title;
  Cell (*cell)(const DescribedStudy& study, double value);
};
// The metrics of the tasks come first, for objectives that are formulas.
const ShownMetric kShownMetrics[] = {
    {kAccuracy.key, "Accuracy",
     [](const DescribedStudy& study, double value) {
       const auto share = proportion_of(study, kAccuracy.key, value);
       return share ? proportion_cell(*share, value) : percent(value);
     }},
    {kR2.key, "R²", [](const DescribedStudy&, double value) { return percent(value); }},
    {kMicroF1.key, "Micro F1", [](const DescribedStudy&, double value) { return percent(value); }},
    {"average_bits", "Bits per weight",
     [](const DescribedStudy&, double value) -> Cell { return real(value, 2); }},
    {"packed_bytes", "Size when packed",
     [](const DescribedStudy&, double value) -> Cell {
       return bytes(static_cast<std::int64_t>(value));
     }},
    {"latency_ms", "Latency per example, batch size 1 (ms)",
     [](const DescribedStudy&, double value) -> Cell { return significant(value); }}};

// Returns an absent cell if there is no number.
template <typename CellOf>
Cell number_cell(const Json& value, const CellOf& cell_of) {
  return value.is_number() && std::isfinite(value.get<double>()) ? cell_of(value.get<double>())
                                                                 : Cell(absent);
}

}  // namespace

double metric_in(const Trial& trial, const std::string& name) {
  const auto metrics = trial.user_attributes.find(kMetricsAttribute);
  if (metrics == trial.user_attributes.end()) return kNoValue;
  const Json& value = value_at(metrics->second, name);
  return value.is_number() ? value.get<double>() : kNoValue;
}

double trial_value(const Trial& trial, const std::string& name) {
  if (name != "value") return metric_in(trial, name);
  return trial.values.empty() ? kNoValue : trial.values.front();
}

TrialCounts count_trials(const StudyView& study) {
  TrialCounts counts;
  const std::set<std::int64_t> again = numbers_run_again(study);
  for (const Trial* trial : study.trials) {
    counts.run_again += trial->state == TrialState::fail && again.contains(trial->number) ? 1 : 0;
    counts.complete += trial->state == TrialState::complete ? 1 : 0;
    counts.pruned += trial->state == TrialState::pruned ? 1 : 0;
    counts.failed += trial->state == TrialState::fail ? 1 : 0;
    counts.running += trial->state == TrialState::running ? 1 : 0;
    counts.waiting += trial->state == TrialState::waiting ? 1 : 0;
    counts.cached +=
        trial->state == TrialState::complete && trial->user_attributes.contains(kCachedAttribute)
            ? 1
            : 0;
  }
  return counts;
}

std::string to_text(const TrialCounts& counts) {
  const auto in_parentheses = [](std::int64_t count, std::string_view what) {
    return count == 0 ? "" : fmt::format(" ({} {})", grouped(count), what);
  };
  std::string text =
      fmt::format("{}{}: {} complete{}", counted_text(counts.distinct(), "trial"),
                  in_parentheses(counts.run_again, "interrupted and run again"),
                  grouped(counts.complete), in_parentheses(counts.cached, "from the cache"));
  for (const auto& [count, state] : {std::pair{counts.pruned, "stopped early"},
                                     {counts.failed - counts.run_again, "failed"},
                                     {counts.running, "running"},
                                     {counts.waiting, "waiting"}})
    if (count > 0) text += fmt::format(", {} {}", grouped(count), state);
  return text;
}

std::set<std::int64_t> numbers_run_again(const StudyView& study) {
  std::set<std::int64_t> again;
  for (const Trial* trial : study.trials) {
    if (const auto number = number_in(trial->system_attributes, "failed_trial"))
      again.insert(*number);
    const auto history = trial->system_attributes.find("retry_history");  // all earlier attempts
    if (history == trial->system_attributes.end() || !history->second.is_array()) continue;
    for (const Json& number : history->second)
      if (number.is_number_integer()) again.insert(number.get<std::int64_t>());
  }
  return again;
}

const Fields& fields_of(const TrialCounts*) {
  using T = TrialCounts;
  static const Fields fields = describe<T>(
      "trial_counts", "How many trials a study has in each state.",
      field<&T::all>("all", "Trials of the study: the sum of the five states."),
      field<&T::complete>("complete", "Trials that ended with a value."),
      field<&T::pruned>("pruned", "Trials that the pruner ended."),
      field<&T::failed>("failed", "Trials that ended with an error, or with their process."),
      field<&T::running>("running", "Trials that have begun and not ended."),
      field<&T::waiting>("waiting", "Trials that are to be run."),
      field<&T::cached>("cached", "Complete trials whose results are from earlier searches."),
      field<&T::run_again>("run_again", "Failed trials that were interrupted and run again."));
  return fields;
}

const Fields& fields_of(const ObjectiveResult*) {
  using O = ObjectiveResult;
  static const Fields fields =
      describe<O>("search_objective", "An objective of a search.",
                  field<&O::formula>("formula", "A formula of metrics."),
                  field<&O::direction>("direction", "Which values are better."));
  return fields;
}

std::vector<ObjectiveResult> objective_results(const DescribedStudy& study) {
  std::vector<ObjectiveResult> results;
  for (std::size_t i = 0; i < study.objectives.size(); ++i)
    results.push_back({study.objectives[i], study.view.directions[i]});
  return results;
}

std::vector<std::int64_t> numbers_of(const std::vector<const Trial*>& trials) {
  std::vector<std::int64_t> numbers;
  for (const Trial* trial : trials) numbers.push_back(trial->number);
  return numbers;
}

std::string best_text(const StudyView& study) {
  if (study.has_several_objectives())
    return fmt::format("{} on the front", pareto_front(study).size());
  const Trial* best = best_trial(study);
  return best == nullptr
             ? ""
             : fmt::format("best {} of trial {}", rounded_text(best->values[0], kObjectiveDigits),
                           shown_number(best->number));
}

Json shown_values(const DescribedStudy& study, const Trial& trial) {
  Json values = Json::object();
  for (const TrialParameter& parameter : trial.parameters)
    values[parameter.name] = shown_value(study, parameter);
  return values;
}

std::string value_text(const std::string& parameter, const Json& value) {
  if (value.is_string()) {
    const auto text = value.get<std::string>();
    return parameter.ends_with(kFormatSuffix) ? format_in_words(text) : text;
  }
  return value.is_number_float() ? fmt::format("{:.4g}", value.get<double>()) : to_line(value);
}

std::string values_text(const DescribedStudy& study, const Trial& trial) {
  constexpr std::size_t kMostValues = 4;
  const Json values = shown_values(study, trial);
  std::map<std::string, int> choices_by_format;
  std::vector<std::string> parts, prefixes;
  for (const auto& [name, value] : values.items())
    if (values.size() > kMostValues && name.ends_with(kFormatSuffix)) {
      ++choices_by_format[value.get<std::string>()];
      prefixes.push_back(name.substr(0, name.size() - kFormatSuffix.size()) + ".");
    }
  for (const auto& [format, choices] : choices_by_format)
    parts.push_back(
        fmt::format("{}{} {}", parts.empty() ? "formats: " : "", choices, format_in_words(format)));
  std::size_t left = 0;
  for (const auto& [name, value] : values.items()) {
    if (std::ranges::any_of(prefixes, [&name = name](const std::string& prefix) {
          return name.starts_with(prefix);
        }))
      continue;
    if (parts.size() >= kMostValues) {
      ++left;
      continue;
    }
    parts.push_back(fmt::format("{} {}", name, value_text(name, value)));
  }
  if (left > 0) parts.push_back(fmt::format("and {} more", left));
  return fmt::format("{}", fmt::join(parts, ", "));
}

const Trial* best_of_single_objective(const StudyView& study) {
  return study.has_several_objectives() ? nullptr : best_trial(study);
}

std::string headline_of(const DescribedStudy& study) {
  const std::int64_t trials = count_trials(study.view).finished();
  const std::string of_trials = fmt::format("{} trial{}", grouped(trials), trials == 1 ? "" : "s");
  if (const Trial* best = best_of_single_objective(study.view))
    return fmt::format("Best of {}: {} = {} (trial {})", of_trials, study.objectives[0],
                       rounded_text(best->values[0], kObjectiveDigits), shown_number(best->number));
  const std::size_t front = pareto_front(study.view).size();
  const char* none =
      count_trials(study.view).complete == 0 ? "complete" : "shown to be within the limits";
  return front == 0 ? fmt::format("{}, none {}", of_trials, none)
                    : fmt::format("{} of {} on the Pareto front", front, of_trials);
}

Table best_trials(const DescribedStudy& study) { return trials_table(study, ranked(study)); }

Table trials_table(const DescribedStudy& study, const std::vector<const Trial*>& trials) {
  const bool candidates = std::ranges::any_of(trials, is_candidate);
  std::vector<Column> columns = {{"trial", "Trial"}};
  if (candidates) columns.insert(columns.begin(), {"candidate", "Candidate"});
  for (const std::string& objective : study.objectives)
    columns.push_back({objective, objective_title(objective)});
  if (candidates) columns.push_back({"within_limits", "Within limits"});
  std::vector<ShownMetric> metrics;
  for (const ShownMetric& metric : kShownMetrics)
    if (has_own_column(study, metric.name)) metrics.push_back(metric);
  for (const ShownMetric& metric : metrics) columns.push_back({metric.name, metric.title});
  columns.push_back({"values", candidates ? "Recipe" : "Parameters"});
  Table table(columns);
  if (const Json& values = value_at(study.baseline, "values");
      values.is_array() && values.size() == study.objectives.size()) {
    std::vector<Cell> row = {"baseline"};
    if (candidates) row.insert(row.begin(), absent);
    for (std::size_t i = 0; i < study.objectives.size(); ++i)
      row.push_back(
          number_cell(values[i], [&](double value) { return value_cell(study, i, value); }));
    if (candidates) row.emplace_back(absent);
    for (const ShownMetric& metric : metrics)
      row.push_back(number_cell(value_at(value_at(study.baseline, "metrics"), metric.name),
                                [&](double value) { return metric.cell(study, value); }));
    row.emplace_back(absent);
    table.add_row(std::move(row));
  }
  std::size_t shown = 0;
  for (const Trial* trial : trials) {
    if (++shown > kShownTrials) break;
    std::vector<Cell> row = {shown_number(trial->number)};
    if (candidates) row.insert(row.begin(), cell_of(value_or_null(*trial, kCandidateAttribute)));
    for (std::size_t i = 0; i < trial->values.size(); ++i)
      row.push_back(value_cell(study, i, trial->values[i]));
    if (candidates) row.emplace_back(trial->violation() == 0 ? "yes" : "not shown");
    for (const ShownMetric& metric : metrics)
      row.push_back(number_cell(Json(metric_in(*trial, metric.name)),
                                [&](double value) { return metric.cell(study, value); }));
    row.push_back(candidates ? cell_of(value_or_null(*trial, kRecipeAttribute))
                             : Cell(values_text(study, *trial)));
    table.add_row(std::move(row));
  }
  return table;
}

std::vector<const Trial*> shrink_candidates(const DescribedStudy& study) {
  std::vector<const Trial*> candidates = complete_trials(study);
  std::erase_if(candidates, [](const Trial* trial) { return !is_candidate(trial); });
  return candidates;
}

std::string certainty_text(const DescribedStudy& study) {
  const bool shows_accuracy =
      std::ranges::find(study.objectives, kAccuracy.key) != study.objectives.end() ||
      has_own_column(study, kAccuracy.key);
  if (shows_accuracy && proportion_of(study, kAccuracy.key, 0))
    return "95% confidence intervals (Wilson) are of each trial alone; the best of many trials is "
           "likely above its own.";
  return "There are no confidence intervals: the study does not record what its values were "
         "measured on.";
}

Table all_trials(const DescribedStudy& study) {
  const std::vector<std::string> parameters = parameter_names(study.view);
  std::vector<Column> columns = {{"number", "number"}, {"state", "state"}};
  for (const std::string& objective : study.objectives) columns.push_back({objective, objective});
  for (const char* key : {"seconds", "start", "end", "cached", "repeat_of"})
    columns.push_back({key, key});
  for (const std::string& name : parameters) columns.push_back({name, name});
  Table table(columns);
  for (const Trial* trial : study.view.trials) {
    std::vector<Cell> row = {trial->number, std::string(to_string(trial->state))};
    for (std::size_t i = 0; i < study.objectives.size(); ++i)
      row.emplace_back(i < trial->values.size() ? Cell(real(trial->values[i], kObjectiveDigits))
                                                : Cell(absent));
    const double seconds = seconds_of(*trial);
    row.emplace_back(std::isfinite(seconds) ? Cell(real(seconds, 2)) : Cell(absent));
    row.emplace_back(trial->start.empty() ? Cell(absent) : Cell(trial->start));
    row.emplace_back(trial->end.empty() ? Cell(absent) : Cell(trial->end));
    row.emplace_back(trial->user_attributes.contains(kCachedAttribute) ? "yes" : "no");
    row.emplace_back(is_repetition(*trial)
                         ? Cell(trial->user_attributes.at(kRepeatAttribute).get<std::int64_t>())
                         : Cell(absent));
    const Json values = shown_values(study, *trial);
    for (const std::string& name : parameters) row.push_back(cell_of(value_at(values, name)));
    table.add_row(std::move(row));
  }
  return table;
}

}  // namespace hone
