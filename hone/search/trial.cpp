#include "hone/search/trial.h"

#include <algorithm>

#include "hone/base/error.h"

namespace hone {
namespace {

bool can_be_best(const Trial& trial, const StudyView& study) {
  return trial.state == TrialState::complete && trial.values.size() == study.directions.size() &&
         trial.violation() == 0;
}

// Returns whether a is at least as good as b for every objective, and better for one.
bool dominates(const Trial& a, const Trial& b, const std::vector<Direction>& directions) {
  bool better = false;
  for (std::size_t i = 0; i < directions.size(); ++i) {
    const double x = loss_of(a.values[i], directions[i]), y = loss_of(b.values[i], directions[i]);
    if (x > y) return false;
    better = better || x < y;
  }
  return better;
}

}  // namespace

std::span<const EnumName> enum_names(Direction) {
  static constexpr EnumName kWords[] = {{static_cast<int>(Direction::minimize), "minimize"},
                                        {static_cast<int>(Direction::maximize), "maximize"}};
  return kWords;
}

std::span<const EnumName> enum_names(TrialState) {
  static constexpr EnumName kWords[] = {{static_cast<int>(TrialState::running), "running"},
                                        {static_cast<int>(TrialState::complete), "complete"},
                                        {static_cast<int>(TrialState::pruned), "pruned"},
                                        {static_cast<int>(TrialState::fail), "fail"},
                                        {static_cast<int>(TrialState::waiting), "waiting"}};
  return kWords;
}

std::string_view to_string(TrialState state) {
  switch (state) {
    case TrialState::running:
      return "RUNNING";
    case TrialState::complete:
      return "COMPLETE";
    case TrialState::pruned:
      return "PRUNED";
    case TrialState::fail:
      return "FAIL";
    case TrialState::waiting:
      break;
  }
  return "WAITING";
}

const TrialParameter* Trial::parameter(std::string_view name) const {
  const auto found = std::find_if(parameters.begin(), parameters.end(),
                                  [&](const TrialParameter& p) { return p.name == name; });
  return found == parameters.end() ? nullptr : &*found;
}

double Trial::violation() const {
  constexpr std::string_view kPrefix = "constraints:";
  std::map<std::string, double> constraints;  // by key; list indices are keys, as in Optuna
  if (const auto list = system_attributes.find("constraints");
      list != system_attributes.end() && list->second.is_array())
    for (std::size_t i = 0; i < list->second.size(); ++i)
      if (list->second[i].is_number())
        constraints[fmt::format("{}", i)] = list->second[i].get<double>();
  for (auto at = system_attributes.lower_bound(std::string(kPrefix));
       at != system_attributes.end() && at->first.starts_with(kPrefix); ++at)
    if (at->second.is_number())
      constraints[at->first.substr(kPrefix.size())] = at->second.get<double>();
  double sum = 0;
  for (const auto& [key, value] : constraints) sum += std::max(value, 0.0);
  return sum;
}

const Trial* best_trial(const StudyView& study) {
  HONE_ASSERT(study.directions.size() == 1, "a study of {} objectives has no best trial",
              study.directions.size());
  const Trial* best = nullptr;
  for (const Trial* trial : study.trials)
    if (can_be_best(*trial, study) &&
        (best == nullptr || dominates(*trial, *best, study.directions)))
      best = trial;
  return best;
}

std::vector<const Trial*> pareto_front(const StudyView& study) {
  std::vector<const Trial*> candidates, front;
  for (const Trial* trial : study.trials)
    if (can_be_best(*trial, study)) candidates.push_back(trial);
  for (const Trial* trial : candidates)
    if (std::none_of(candidates.begin(), candidates.end(), [&](const Trial* other) {
          return dominates(*other, *trial, study.directions);
        }))
      front.push_back(trial);
  return front;
}

}  // namespace hone
