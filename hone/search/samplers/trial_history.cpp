#include "hone/search/samplers/trial_history.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "hone/base/error.h"
#include "hone/search/python_json.h"

namespace hone {
namespace {

// Skips feasible complete trials with the wrong number of values, which another program wrote; infeasible ones need
// none.
bool is_usable_observation(const Trial& trial, std::size_t objectives) {
  if (trial.state == TrialState::pruned) return true;
  return trial.state == TrialState::complete &&
         (trial.values.size() == objectives || trial.violation() > 0);
}

// Returns the joint draw that an Optuna worker published for a running trial before its parameters, as external
// values by name; it is stored in pieces of one JSON text.
Json published_draws(const Trial& trial) {
  std::string text;
  for (std::size_t i = 0;; ++i) {
    const auto piece = trial.system_attributes.find(fmt::format("tpe:relative_params:{}", i));
    if (piece == trial.system_attributes.end() || !piece->second.is_string()) break;
    text += piece->second.get_ref<const std::string&>();
  }
  if (text.empty()) return Json::object();
  try {
    const Json draws = parse_python_json(text, "tpe:relative_params");
    return draws.is_object() ? draws : Json::object();
  } catch (const UserError&) {
    return Json::object();  // not completely written yet
  }
}

// Returns none if the value is not in the distribution.
std::optional<double> internal_if_any(const Distribution& distribution, const Json& external) {
  try {
    return distribution.internal(external);
  } catch (const UserError&) {
    return std::nullopt;
  }
}

std::int32_t distribution_index(const Distribution& distribution, std::vector<Distribution>& all) {
  const auto found = std::find(all.begin(), all.end(), distribution);
  const auto index = static_cast<std::int32_t>(found - all.begin());
  if (found == all.end()) all.push_back(distribution);
  return index;
}

}  // namespace

const TrialHistory::Column* TrialHistory::column(const std::string& name) const {
  const auto found = columns_.find(name);
  return found == columns_.end() ? nullptr : &found->second;
}

void TrialHistory::forget() {
  rows_.clear();
  row_of_.clear();
  columns_.clear();
  parameter_sets_.clear();
  finished_.clear();
  running_.clear();
}

void TrialHistory::drop_running() {
  if (running_.empty()) return;
  const std::uint32_t kept = running_.front();
  rows_.resize(kept);
  running_.clear();
  for (auto& [name, column] : columns_) {
    if (column.values.size() > kept) {
      column.values.resize(kept);
      column.distribution_of.resize(kept);
    }
    std::erase_if(column.by_value, [&](std::uint32_t row) { return row >= kept; });
  }
}

void TrialHistory::put(std::uint32_t row, const std::string& name, const Distribution& distribution,
                       double value) {
  Column& column = columns_[name];
  column.values.resize(row + 1);
  column.distribution_of.resize(row + 1, -1);
  column.values[row] = value;
  column.distribution_of[row] = distribution_index(distribution, column.distributions);
  const auto place = std::upper_bound(
      column.by_value.begin(), column.by_value.end(), row, [&](std::uint32_t a, std::uint32_t b) {
        return column.values[a] != column.values[b] ? column.values[a] < column.values[b]
                                                    : rows_[a].number < rows_[b].number;
      });
  column.by_value.insert(place, row);
}

std::uint32_t TrialHistory::add(const Trial& trial) {
  const auto index = static_cast<std::uint32_t>(rows_.size());
  Row row{.trial = &trial, .number = trial.number, .state = trial.state};
  if (trial.state != TrialState::running) row.violation = trial.violation();
  if (!trial.reports.empty()) {
    row.reported = true;
    row.last_step = trial.reports.rbegin()->first;
    const double report = trial.reports.rbegin()->second;
    row.last_report = std::isnan(report) ? std::numeric_limits<double>::infinity()
                                         : loss_of(report, directions_.at(0));
  }
  if (trial.state == TrialState::complete && trial.values.size() == directions_.size())
    for (std::size_t i = 0; i < directions_.size(); ++i)
      row.losses.push_back(loss_of(trial.values[i], directions_[i]));
  std::vector<std::string> names;
  for (const TrialParameter& parameter : trial.parameters) names.push_back(parameter.name);
  row.parameter_set =
      parameter_sets_.try_emplace(std::move(names), parameter_sets_.size()).first->second;
  rows_.push_back(std::move(row));
  for (const TrialParameter& parameter : trial.parameters)
    put(index, parameter.name, parameter.distribution, parameter.value);
  return index;
}

void TrialHistory::add_running(const Trial& trial) {
  const std::uint32_t index = add(trial);
  running_.push_back(index);
  const Json draws = published_draws(trial);
  for (const auto& [name, external] : draws.items()) {
    const auto known = columns_.find(name);
    if (trial.parameter(name) != nullptr || known == columns_.end()) continue;
    const Distribution distribution = known->second.distributions.back();
    if (const auto internal = internal_if_any(distribution, external))
      put(index, name, distribution, *internal);
  }
}

void TrialHistory::observe(const StudyView& study, bool running) {
  drop_running();
  if (study.directions != directions_) {
    forget();
    directions_ = study.directions;
  }
  std::vector<std::uint32_t> seen;
  seen.reserve(study.trials.size());
  for (const Trial* trial : study.trials) {
    // Usually the view is the last one with trials appended.
    if (seen.size() < finished_.size() && rows_[finished_[seen.size()]].trial == trial) {
      seen.push_back(finished_[seen.size()]);
    } else if (const auto known = row_of_.find(trial); known != row_of_.end()) {
      seen.push_back(known->second);
    } else if (is_usable_observation(*trial, directions_.size())) {
      seen.push_back(row_of_[trial] = add(*trial));
    } else {
      continue;
    }
    const Row& row = rows_[seen.back()];
    if (row.number == trial->number && row.state == trial->state) continue;
    forget();  // addresses were reused by other trials
    return observe(study, running);
  }
  finished_ = std::move(seen);
  if (!running) return;
  for (const Trial* trial : study.trials)
    if (trial->state == TrialState::running) add_running(*trial);
}

}  // namespace hone
