#include "hone/jobs/pipeline/pipeline_formulas.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "hone/jobs/pipeline/pipeline_values.h"
#include "hone/jobs/search/best_history.h"
#include "hone/jobs/search/study_tables.h"
#include "hone/metrics/p_value.h"

namespace hone {
namespace {

constexpr std::string_view kTally = "tally.", kAny = ".*.";

using TextCounts = std::map<std::string, std::int64_t>;

// Counts the texts at a path such as "best.configuration.formats.*.weight".
TextCounts text_counts(const Json& result, const std::string& path) {
  TextCounts texts;
  const std::size_t any = path.find(kAny);
  const Json& members = value_at_path(result, path.substr(0, any));
  if (any == std::string::npos || !members.is_structured()) return texts;
  const std::string key = path.substr(any + kAny.size());
  for (const Json& member : members)
    if (const Json& value = value_at_path(member, key); value.is_string())
      ++texts[shown_text(value.get<std::string>(), key)];
  return texts;
}

// Returns the text that all members share; absent if they differ.
Cell common_cell(const Json& result, const std::string& path) {
  const TextCounts texts = text_counts(result, path);
  const std::int64_t members = std::ssize(value_at_path(result, path.substr(0, path.find(kAny))));
  return texts.size() == 1 && texts.begin()->second == members ? Cell(texts.begin()->first)
                                                               : Cell(absent);
}

// Returns the counts, most frequent first. Texts are cut off at their parentheses, unless all would be the same then.
Cell tally_cell(const TextCounts& texts) {
  if (texts.empty()) return absent;
  TextCounts names;
  for (const auto& [text, count] : texts) names[text.substr(0, text.find('('))] += count;
  const TextCounts& counts = names.size() > 1 ? names : texts;
  Tally tally{{counts.begin(), counts.end()}};
  std::ranges::stable_sort(tally.counts, std::greater(),
                           &std::pair<std::string, std::int64_t>::second);
  return tally;
}

// Returns a trial with the keys of `best` in the results of a search; without values and metrics unless it is complete.
Json trial_row(const DescribedStudy& study, const Trial& trial) {
  Json row = {{"number", trial.number}, {"parameters", shown_values(study, trial)}};
  if (const auto configuration = trial.user_attributes.find(kConfigurationAttribute);
      configuration != trial.user_attributes.end())
    row["configuration"] = configuration->second;
  if (trial.state != TrialState::complete) return row;
  row["values"] = trial.values;
  if (const auto metrics = trial.user_attributes.find(kMetricsAttribute);
      metrics != trial.user_attributes.end())
    row["metrics"] = metrics->second;
  return row;
}

Estimate number_estimate(double value) { return {value, kNoValue, kNoValue, Quantity::number}; }

// Returns a value of a stage or a pick.
Estimate value_of(const ValueReference& reference, const PipelineFindings& found) {
  const std::optional<ValueSource> source = source_of(reference.from, found);
  if (!source) return number_estimate(kNoValue);
  return reference.path.empty()
             ? evaluate_formula(found.pipeline.picks[*reference.from.pick].by, *source, found)
             : estimate_in(*source, reference.path, found);
}

// Returns whether the result is in points: a sum or difference of shares or points.
bool is_in_points(const ValueFormula& formula, const std::vector<Estimate>& values) {
  bool is_name = false;  // in braces, where it may have a "/"
  const bool adds = std::ranges::none_of(formula.formula.text(), [&](char c) {
    if (c == '{' || c == '}') is_name = c == '{';
    return !is_name && (c == '*' || c == '/');
  });
  return adds && std::ranges::all_of(values, [](const Estimate& one) {
           return one.of == Quantity::share || one.of == Quantity::points;
         });
}

// Returns whether the stage's comparison is significant, corrected as in claims on several comparisons.
bool is_significant(const ValueSource& source, const PipelinePick& pick,
                    const PipelineFindings& found) {
  constexpr const char* kPValue = "comparison.mcnemar_p";
  std::vector<double> p;
  std::size_t own = 0;
  for (const std::size_t stage : pick.stages) {
    if (found.outcomes[stage].result.is_null()) continue;
    if (stage == source.stage) own = p.size();
    p.push_back(estimate_in({.stage = stage}, kPValue, found).value);
  }
  const auto corrected = significant_after_holm(p);
  return !corrected || (*corrected)[own];
}

bool fulfils(const ValueSource& source, const PipelinePick& pick, const PipelineFindings& found) {
  if (pick.significant && !is_significant(source, pick, found)) return false;
  return std::ranges::all_of(pick.where, [&](const ValueCondition& condition) {
    // A missing value is NaN, which fulfils no condition.
    const double left = evaluate_formula(condition.left, source, found).value,
                 right = evaluate_formula(condition.right, source, found).value;
    return condition.equal ? left == right : left <= right;
  });
}

}  // namespace

std::vector<ValueSource> rows_at(std::size_t stage, const std::string& path,
                                 const PipelineFindings& found) {
  std::vector<ValueSource> rows;
  const Json& result = found.outcomes[stage].result;
  if (path.empty()) {
    if (!result.is_null()) rows.push_back({.stage = stage});
  } else if (path == kTrials) {
    if (const auto study = found.studies.find(found.pipeline.stages[stage].name);
        study != found.studies.end())
      for (const TrialAndBest& one : trials_with_best(study->second.shown.view))
        rows.push_back({.stage = stage, .row = trial_row(study->second.shown, *one.trial)});
  } else {
    const Json& members = value_at_path(result, path);
    if (!members.is_structured()) return rows;
    for (const auto& [name, member] : members.items())
      rows.push_back(
          {.stage = stage, .row = member, .name = members.is_object() ? name : std::string()});
  }
  return rows;
}

Cell cell_in(const ValueSource& source, const std::string& path, const PipelineFindings& found) {
  const Json& result = source.row ? *source.row : found.outcomes[source.stage].result;
  if (path == "name" && !source.name.empty()) return source.name;
  if (path.starts_with(kTally)) return tally_cell(text_counts(result, path.substr(kTally.size())));
  if (path.find(kAny) != std::string::npos) return common_cell(result, path);
  const Cell cell = cell_at(result, path);
  if (!cell.is_absent()) return cell;
  if (const std::string* variable = variable_of(found.pipeline.stages[source.stage], path))
    return *variable;
  return cell_of(estimate_in(source, path, found));
}

Estimate estimate_in(const ValueSource& source, const std::string& path,
                     const PipelineFindings& found) {
  const StageOutcome& outcome = found.outcomes[source.stage];
  if (source.row)
    if (const Estimate own = estimate_at(*source.row, path); !std::isnan(own.value)) return own;
  if (const std::string* variable = variable_of(found.pipeline.stages[source.stage], path))
    return number_estimate(number_in_text(*variable));
  return source.row ? number_estimate(kNoValue)
                    : estimate_of(outcome.result, found.folder / outcome.chosen_stage, path);
}

std::optional<ValueSource> source_of(const StageReference& reference,
                                     const PipelineFindings& found) {
  if (reference.stage) return ValueSource{.stage = *reference.stage};
  if (!reference.pick) return std::nullopt;
  const PipelinePick& pick = found.pipeline.picks[*reference.pick];
  std::optional<ValueSource> best;
  double best_value = kNoValue;
  for (const std::size_t stage : pick.stages)
    for (ValueSource& source : rows_at(stage, pick.rows, found)) {
      const double value = evaluate_formula(pick.by, source, found).value;
      if (std::isnan(value) || !fulfils(source, pick, found)) continue;
      if (best && (pick.highest ? value <= best_value : value >= best_value)) continue;
      best = std::move(source);
      best_value = value;
    }
  return best;
}

PickCount count_of(const PipelinePick& pick, const PipelineFindings& found) {
  PickCount count;
  for (const std::size_t stage : pick.stages)
    for (const ValueSource& source : rows_at(stage, pick.rows, found)) {
      ++count.all;
      if (fulfils(source, pick, found)) ++count.fulfilling;
    }
  return count;
}

Estimate evaluate_formula(const ValueFormula& formula, const ValueSource& source,
                          const PipelineFindings& found) {
  if (!formula.path.empty()) return estimate_in(source, formula.path, found);
  const std::vector<std::string> names = formula.formula.names();
  std::vector<Estimate> estimates;
  std::map<std::string, double> values;
  for (const std::string& name : names) {
    const auto other = formula.others.find(name);
    estimates.push_back(other == formula.others.end() ? estimate_in(source, name, found)
                                                      : value_of(other->second, found));
    values[name] = estimates.back().value;
  }
  if (names.size() == 1 && names.front() == formula.formula.text()) return estimates.front();
  Estimate result = number_estimate(formula.formula.value(values));
  if (!names.empty() && is_in_points(formula, estimates)) result.of = Quantity::points;
  double below = 0, above = 0;
  bool is_exact = true;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (std::isnan(estimates[i].low)) continue;
    is_exact = false;
    double least = result.value, most = result.value;
    for (const double end : {estimates[i].low, estimates[i].high}) {
      values[names[i]] = end;
      const double moved = formula.formula.value(values);
      least = std::min(least, moved);
      most = std::max(most, moved);
    }
    values[names[i]] = estimates[i].value;
    below += result.value - least;
    above += most - result.value;
  }
  if (!is_exact) {
    result.low = result.value - below;
    result.high = result.value + above;
  }
  return result;
}

Cell formula_cell(const ValueFormula& formula, const ValueSource& source,
                  const PipelineFindings& found) {
  if (!formula.path.empty()) return cell_in(source, formula.path, found);
  const Estimate number = evaluate_formula(formula, source, found);
  const bool is_count = number.of == Quantity::number && std::isnan(number.low) &&
                        number.value == std::round(number.value);
  return is_count ? Cell(static_cast<std::int64_t>(number.value)) : cell_of(number);
}

std::optional<std::vector<bool>> significant_after_holm(const std::vector<double>& p) {
  constexpr double kLevel = 0.05;
  if (p.size() < 2 || std::ranges::any_of(p, [](double one) { return std::isnan(one); }))
    return std::nullopt;
  std::vector<bool> significant;
  for (const double corrected : holm_adjusted(p)) significant.push_back(corrected < kLevel);
  return significant;
}

}  // namespace hone
