#include "hone/search/engine/promotion.h"

#include <algorithm>
#include <utility>

#include "hone/search/pruners/rungs.h"

namespace hone {
namespace {

std::vector<const Trial*> ranked_rung(const StudyView& points, std::int64_t rung) {
  std::vector<std::pair<double, const Trial*>> losses;
  for (const Trial* trial : points.trials)
    if (const auto value = rung_value(*trial, rung))
      losses.emplace_back(loss_of(*value, points.directions[0]), trial);
  std::stable_sort(losses.begin(), losses.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<const Trial*> ranked;
  for (const auto& [loss, trial] : losses) ranked.push_back(trial);
  return ranked;
}

}  // namespace

const Trial* promotable(const StudyView& points, std::int64_t reduction_factor) {
  std::int64_t top = 0;
  for (const Trial* trial : points.trials) top = std::max(top, rungs_reached(*trial));
  for (std::int64_t rung = top - 1; rung >= 0; --rung) {
    const std::vector<const Trial*> ranked = ranked_rung(points, rung);
    const std::size_t good = ranked.size() / static_cast<std::size_t>(reduction_factor);
    for (std::size_t i = 0; i < good; ++i)
      if (ranked[i]->state == TrialState::pruned && rungs_reached(*ranked[i]) == rung + 1)
        return ranked[i];
  }
  return nullptr;
}

}  // namespace hone
