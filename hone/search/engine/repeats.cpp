#include "hone/search/engine/repeats.h"

#include <algorithm>

#include "hone/search/engine/recovery.h"

namespace hone {

std::vector<RepeatedTrial> ranked_by_mean(const StudyView& all) {
  const auto counts = [&](const Trial& trial) {
    return trial.state == TrialState::complete && trial.values.size() == 1 &&
           trial.violation() == 0;
  };
  std::map<std::int64_t, RepeatedTrial> by_number;
  for (const Trial* trial : all.trials)
    if (counts(*trial) && !trial->user_attributes.contains("repeat_of"))
      by_number[trial->number] = {trial, trial->values[0], 1, 0};
  for (const Trial* trial : all.trials) {
    const auto origin = number_in(trial->user_attributes, "repeat_of");
    const auto found = origin ? by_number.find(*origin) : by_number.end();
    // The copy of a lost repeat counts instead.
    if (found == by_number.end() || trial->system_attributes.contains(kRunAgain)) continue;
    RepeatedTrial& repeated = found->second;
    ++repeated.begun;
    if (!counts(*trial)) continue;
    ++repeated.runs;
    repeated.mean += (trial->values[0] - repeated.mean) / static_cast<double>(repeated.runs);
  }
  std::vector<RepeatedTrial> ranked;
  for (const auto& [number, repeated] : by_number) ranked.push_back(repeated);
  std::stable_sort(ranked.begin(), ranked.end(), [&](const auto& a, const auto& b) {
    return loss_of(a.mean, all.directions[0]) < loss_of(b.mean, all.directions[0]);
  });
  return ranked;
}

std::optional<RepeatedTrial> trial_to_repeat(const StudyView& all, std::int64_t repeats,
                                             std::int64_t top) {
  const std::vector<RepeatedTrial> ranked = ranked_by_mean(all);
  for (std::size_t i = 0; i < ranked.size() && i < static_cast<std::size_t>(top); ++i)
    if (ranked[i].begun < repeats) return ranked[i];
  return std::nullopt;
}

}  // namespace hone
