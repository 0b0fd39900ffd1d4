#include "hone/search/engine/trial_table.h"

#include <algorithm>
#include <set>

#include "hone/search/engine/recovery.h"
#include "hone/search/pruners/rungs.h"

namespace hone {
namespace {

bool is_foreign(const Trial& trial, const std::string& foreign_start) {
  return !trial.user_attributes.contains("worker") && trial.start < foreign_start;
}

// Returns a trial in the state in which it began, without later results.
std::unique_ptr<Trial> as_begun(const Trial& trial, const TrialTable& table) {
  auto begun = std::make_unique<Trial>();
  begun->id = trial.id;
  begun->number = trial.number;
  begun->parameters = trial.parameters;
  begun->start = trial.start;
  for (const char* key : {"continues", "repeat_of", "repeat"})
    if (const auto found = trial.user_attributes.find(key); found != trial.user_attributes.end())
      begun->user_attributes.insert(*found);
  for (const auto& [key, value] : trial.system_attributes)
    if (!key.starts_with("completed_rung_") && !key.starts_with("constraints") && key != kRunAgain)
      begun->system_attributes[key] = value;
  if (const auto origin = number_in(trial.user_attributes, "continues"))
    if (const Trial* before = trial_numbered(table, *origin))
      for (std::int64_t rung = 0; rung < rungs_reached(*before); ++rung)
        begun->system_attributes[rung_key(rung)] = *rung_value(*before, rung);
  return begun;
}

}  // namespace

std::int64_t next_number(const TrialTable& table) {
  return table.empty() ? 0 : table.back()->number + 1;
}

const Trial* trial_numbered(const TrialTable& table, std::int64_t number) {
  const auto found =
      std::lower_bound(table.begin(), table.end(), number,
                       [](const auto& trial, std::int64_t n) { return trial->number < n; });
  return found == table.end() || (*found)->number != number ? nullptr : found->get();
}

std::optional<std::int64_t> number_in(const std::map<std::string, Json>& attributes,
                                      const std::string& key) {
  const auto found = attributes.find(key);
  if (found == attributes.end() || !found->second.is_number_integer()) return std::nullopt;
  return found->second.get<std::int64_t>();
}

bool may_begin(const TrialTable& table, std::int64_t number, const WaitRule& rule) {
  for (const auto& trial : table) {
    if (trial->number >= number) break;
    if (trial->state != TrialState::running || is_foreign(*trial, rule.foreign_start)) continue;
    if (trial->number <= number - rule.concurrency || (rule.draws && trial->parameters.empty()))
      return false;
  }
  return true;
}

KnownTrials::KnownTrials(const Study& study, const TrialTable& table, std::int64_t number,
                         const SearchOptions& options)
    : view_{.name = study.name, .directions = study.directions} {
  const std::int64_t last = options.asynchronous ? number : number - options.concurrency;
  for (const auto& trial : table) {
    if (trial->number == number || trial->state == TrialState::waiting) continue;
    if (trial->number > number && !options.asynchronous) break;
    if (is_finished(trial->state) && (options.asynchronous || trial->number <= last))
      view_.trials.push_back(trial.get());
    else
      view_.trials.push_back(begun_.emplace_back(as_begun(*trial, table)).get());
  }
}

StudyView points_of(const StudyView& all) {
  std::set<std::int64_t> continued;
  for (const Trial* trial : all.trials)
    if (const auto origin = number_in(trial->user_attributes, "continues"))
      continued.insert(*origin);
  StudyView view = all;
  std::erase_if(view.trials, [&](const Trial* trial) {
    return continued.contains(trial->number) || trial->user_attributes.contains("repeat_of");
  });
  // If a continuing trial was lost, the last of it and its copies represents them.
  std::set<std::int64_t> origins;
  std::vector<const Trial*> kept;
  for (auto at = view.trials.rbegin(); at != view.trials.rend(); ++at) {
    const auto origin = number_in((*at)->user_attributes, "continues");
    if (!origin || origins.insert(*origin).second) kept.push_back(*at);
  }
  view.trials.assign(kept.rbegin(), kept.rend());
  return view;
}

StudyView finished_of(const StudyView& view) {
  StudyView result = view;
  std::erase_if(result.trials, [](const Trial* trial) { return !is_finished(trial->state); });
  return result;
}

void PenalizedFailures::show(StudyView& view) {
  std::vector<const Trial*> trials;
  for (const Trial* trial : view.trials) {
    if (trial->state != TrialState::fail) {
      trials.push_back(trial);
      continue;
    }
    if (trial->parameters.empty() || trial->system_attributes.contains(kRunAgain)) continue;
    std::unique_ptr<Trial>& shown = shown_[trial->number];
    if (!shown) {
      shown = std::make_unique<Trial>(*trial);
      shown->state = TrialState::pruned;
      shown->values.clear();
      shown->reports.clear();
      std::erase_if(shown->system_attributes,
                    [](const auto& entry) { return entry.first.starts_with("constraints"); });
      shown->system_attributes["constraints"] = Json::array({1.0});
    }
    trials.push_back(shown.get());
  }
  view.trials = std::move(trials);
}

}  // namespace hone
