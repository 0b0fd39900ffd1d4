#include "hone/search/allocation_dominance.h"

#include <algorithm>
#include <tuple>

namespace hone {
namespace {

using Steps = std::map<std::int64_t, double>;

bool is_below(const Steps& steps, std::int64_t cost, double damage) {
  const auto above = steps.upper_bound(cost);
  return above != steps.begin() && std::prev(above)->second <= damage;
}

void put(Steps& steps, std::int64_t cost, double damage) {
  if (is_below(steps, cost, damage)) return;
  auto next = steps.upper_bound(cost);
  while (next != steps.end() && next->second >= damage) next = steps.erase(next);
  steps.insert_or_assign(cost, damage);
}

}  // namespace

DominanceFront::DominanceFront(std::vector<std::int64_t> last_costs)
    : ranked_(std::move(last_costs)) {
  std::ranges::sort(ranked_);
  ranked_.erase(std::unique(ranked_.begin(), ranked_.end()), ranked_.end());
  tree_.resize(ranked_.size() + 1);
}

bool DominanceFront::take(const OtherCosts& costs, double damage) {
  const auto rank =
      static_cast<std::size_t>(std::ranges::lower_bound(ranked_, costs[1]) - ranked_.begin()) + 1;
  for (std::size_t i = rank; i > 0; i -= i & (~i + 1))
    if (is_below(tree_[i], costs[0], damage)) return false;
  for (std::size_t i = rank; i < tree_.size(); i += i & (~i + 1)) put(tree_[i], costs[0], damage);
  return true;
}

std::vector<AllocationSum> sums_within(const AllocationStates& before,
                                       const std::vector<GroupChoice>& choices, std::int64_t most,
                                       const OtherCosts& most_others) {
  std::vector<AllocationSum> sums;
  for (const GroupChoice& choice : choices)
    for (std::size_t i = 0; i < before.costs.size(); ++i) {
      const OtherCosts& others = before.other_costs[i];
      const AllocationSum sum{
          before.costs[i] + choice.cost,
          {others[0] + choice.other_costs[0], others[1] + choice.other_costs[1]},
          before.damages[i] + choice.damage,
          origin_of(choice.option, i)};
      if (sum.cost <= most && sum.other_costs[0] <= most_others[0] &&
          sum.other_costs[1] <= most_others[1])
        sums.push_back(sum);
    }
  return sums;
}

AllocationStates undominated(std::vector<AllocationSum> sums) {
  std::ranges::stable_sort(sums, {}, [](const AllocationSum& sum) {
    return std::tuple(sum.cost, sum.other_costs, sum.damage);
  });
  std::vector<std::int64_t> last_costs;
  for (const AllocationSum& sum : sums) last_costs.push_back(sum.other_costs[1]);
  DominanceFront front(std::move(last_costs));
  AllocationStates after;
  for (const AllocationSum& sum : sums) {
    if (!front.take(sum.other_costs, sum.damage)) continue;
    after.costs.push_back(sum.cost);
    after.other_costs.push_back(sum.other_costs);
    after.damages.push_back(sum.damage);
    after.origins.push_back(sum.origin);
  }
  return after;
}

}  // namespace hone
