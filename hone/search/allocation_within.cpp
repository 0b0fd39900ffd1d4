#include "hone/search/allocation_within.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "hone/search/allocation_dominance.h"

namespace hone {
namespace {

constexpr std::size_t kCosts = 1 + std::tuple_size_v<OtherCosts>;
using Vector = std::array<double, kCosts>;

double product(const Vector& a, const Vector& b) {
  double sum = 0;
  for (std::size_t k = 0; k < kCosts; ++k) sum += a[k] * b[k];
  return sum;
}

/// The Lagrangian relaxation of the groups, with costs as shares of the budgets.
class Relaxation {
 public:
  Relaxation(const std::vector<std::vector<GroupChoice>>& groups, std::int64_t most,
             const OtherCosts& most_others)
      : groups_(groups) {
    const std::int64_t budgets[] = {most, most_others[0], most_others[1]};
    for (std::size_t k = 0; k < kCosts; ++k) {
      scale_[k] = 1 / static_cast<double>(std::max<std::int64_t>(1, budgets[k]));
      budget_[k] = static_cast<double>(budgets[k]) * scale_[k];
    }
  }

  Vector shares(std::int64_t cost, const OtherCosts& others) const {
    return {static_cast<double>(cost) * scale_[0], static_cast<double>(others[0]) * scale_[1],
            static_cast<double>(others[1]) * scale_[2]};
  }
  const Vector& budget() const { return budget_; }

  // Returns the minimum of damage plus weighted costs in one group; adds the costs of the minimizer to `costs`.
  double least(const std::vector<GroupChoice>& choices, const Vector& multipliers,
               Vector& costs) const {
    double best = HUGE_VAL;
    Vector of_best = {};
    for (const GroupChoice& choice : choices) {
      const Vector shares = this->shares(choice.cost, choice.other_costs);
      const double value = choice.damage + product(multipliers, shares);
      if (value >= best) continue;
      best = value;
      of_best = shares;
    }
    for (std::size_t k = 0; k < kCosts; ++k) costs[k] += of_best[k];
    return best;
  }

  // Returns a lower bound of the damage within the budgets; sets `rise` to the direction in which it rises.
  double bound(const Vector& multipliers, Vector& rise) const {
    rise = {};
    double sum = -product(multipliers, budget_);
    for (const auto& choices : groups_) sum += least(choices, multipliers, rise);
    for (std::size_t k = 0; k < kCosts; ++k) rise[k] -= budget_[k];
    return sum;
  }

  double most_damage() const {
    double sum = 0;
    for (const auto& choices : groups_)
      sum += std::ranges::max_element(choices, {}, &GroupChoice::damage)->damage;
    return sum;
  }

 private:
  const std::vector<std::vector<GroupChoice>>& groups_;
  Vector scale_ = {}, budget_ = {};
};

/// Maximizes the bound by the ellipsoid method: repeatedly encloses half of an ellipsoid in the smallest new one
/// (Shor; Yudin and Nemirovski).
class Ellipsoid {
 public:
  explicit Ellipsoid(double radius) {
    for (std::size_t k = 0; k < kCosts; ++k) shape_[k][k] = radius * radius;
  }
  const Vector& centre() const { return centre_; }

  // Keeps the half in this direction; returns false if it is too thin to cut.
  bool cut(const Vector& direction) {
    constexpr double n = kCosts;
    Vector step = {};
    for (std::size_t k = 0; k < kCosts; ++k) step[k] = product(shape_[k], direction);
    const double length = std::sqrt(product(step, direction));
    if (!(length > 0)) return false;
    for (double& one : step) one /= length;
    for (std::size_t k = 0; k < kCosts; ++k) centre_[k] += step[k] / (n + 1);
    for (std::size_t k = 0; k < kCosts; ++k)
      for (std::size_t j = 0; j < kCosts; ++j)
        shape_[k][j] = n * n / (n * n - 1) * (shape_[k][j] - 2 / (n + 1) * step[k] * step[j]);
    return true;
  }

 private:
  Vector centre_ = {};
  std::array<Vector, kCosts> shape_ = {};
};

// Returns nonnegative multipliers. Any multipliers give a valid bound; these come close to the best.
Vector best_multipliers(const Relaxation& relaxation) {
  constexpr int kCuts = 600;  // each cut reduces the volume by an eighth: to 10⁻³⁰
  // Beyond this radius, a thousandth of a budget would be worth more than all damage. If there is no damage, the sign
  // of the bound still shows whether the budgets can be met.
  const double damage = relaxation.most_damage();
  Ellipsoid ellipsoid(1000 * (damage > 0 ? damage : 1));
  Vector best = {}, rise = {};
  double most = relaxation.bound(best, rise);
  for (int i = 0; i < kCuts; ++i) {
    const Vector& at = ellipsoid.centre();
    Vector direction = {};
    const auto negative = std::ranges::find_if(at, [](double one) { return one < 0; });
    if (negative != at.end()) {
      direction[static_cast<std::size_t>(negative - at.begin())] = 1;
    } else if (const double bound = relaxation.bound(at, direction); bound > most) {
      most = bound;
      best = at;
    }
    if (!ellipsoid.cut(direction)) break;
  }
  return best;
}

/// Searches with a limited width.
class BoundedSearch {
 public:
  BoundedSearch(const std::vector<std::vector<GroupChoice>>& groups, std::int64_t most,
                const OtherCosts& most_others)
      : groups_(groups),
        most_(most),
        most_others_(most_others),
        relaxation_(groups, most, most_others),
        multipliers_(best_multipliers(relaxation_)) {
    Vector unused = {};
    rests_.assign(groups.size(), -product(multipliers_, relaxation_.budget()));
    for (std::size_t i = groups.size(); i-- > 1;)
      rests_[i - 1] = rests_[i] + relaxation_.least(groups[i], multipliers_, unused);
    // A bound above every possible damage proves that no choice meets the budgets.
    Vector rise = {};
    if (relaxation_.bound(multipliers_, rise) > relaxation_.most_damage() * (1 + 1e-9))
      found_.bound = HUGE_VAL;
  }

  bool is_exact() const { return found_.bound == HUGE_VAL || found_.bound >= found_.damage; }
  const WithinBudgets& found() const { return found_; }

  void look(std::size_t width) {
    const double known = found_.options.empty() ? HUGE_VAL : found_.damage;
    double left_out = HUGE_VAL;  // the lowest bound of the dropped allocations
    AllocationStates states = no_groups();
    std::vector<std::vector<AllocationOrigin>> origins;
    for (std::size_t i = 0; i < groups_.size() && !states.costs.empty(); ++i) {
      std::vector<AllocationSum> sums = sums_within(states, groups_[i], most_, most_others_);
      left_out = std::min(left_out, narrow(sums, rests_[i], known, width));
      states = undominated(std::move(sums));
      origins.push_back(std::move(states.origins));
    }
    if (!states.costs.empty()) take_best(states, origins);
    found_.bound = found_.options.empty() ? left_out : std::min(found_.damage, left_out);
  }

 private:
  // Keeps at most `width` sums that may improve on `known`; returns the lowest bound of those dropped by the width.
  double narrow(std::vector<AllocationSum>& sums, double rest, double known,
                std::size_t width) const {
    constexpr double kRounding = 1e-12;  // rounding error of sums of a few hundred terms
    struct Bounded {
      double bound = 0, share = 0;
      std::size_t number = 0;
      auto operator<=>(const Bounded&) const = default;
    };
    std::vector<Bounded> bounded;
    for (std::size_t i = 0; i < sums.size(); ++i) {
      const Vector shares = relaxation_.shares(sums[i].cost, sums[i].other_costs);
      const double bound = sums[i].damage + product(multipliers_, shares) + rest;
      // Among equal bounds, prefers those that have used the smallest share of the budgets.
      if (bound < known * (1 - kRounding)) bounded.push_back({bound, std::ranges::max(shares), i});
    }
    double left_out = HUGE_VAL;
    if (bounded.size() > width) {
      const auto end = bounded.begin() + static_cast<std::ptrdiff_t>(width);
      std::ranges::nth_element(bounded, end);
      left_out = std::max(0.0, end->bound);
      bounded.erase(end, bounded.end());
    }
    std::ranges::sort(bounded, {}, &Bounded::number);
    std::vector<AllocationSum> kept;
    for (const Bounded& one : bounded) kept.push_back(sums[one.number]);
    sums = std::move(kept);
    return left_out;
  }

  void take_best(const AllocationStates& states,
                 const std::vector<std::vector<AllocationOrigin>>& origins) {
    std::size_t state =
        static_cast<std::size_t>(std::ranges::min_element(states.damages) - states.damages.begin());
    if (!found_.options.empty() && states.damages[state] >= found_.damage) return;
    found_.damage = states.damages[state];
    found_.cost = states.costs[state];
    found_.options.assign(groups_.size(), 0);
    for (std::size_t i = groups_.size(); i-- > 0;) {
      const AllocationOrigin origin = origins[i][state];
      found_.options[i] = static_cast<std::uint8_t>(origin);
      state = origin >> 8;
    }
  }

  const std::vector<std::vector<GroupChoice>>& groups_;
  std::int64_t most_;
  const OtherCosts& most_others_;
  Relaxation relaxation_;
  Vector multipliers_;
  std::vector<double> rests_;  // after each group: lower bound of the rest
  WithinBudgets found_;
};

}  // namespace

WithinBudgets allocation_within(const std::vector<std::vector<GroupChoice>>& groups,
                                std::int64_t most, const OtherCosts& most_others,
                                std::size_t width) {
  BoundedSearch search(groups, most, most_others);
  // The result of a narrow search makes a wide one much cheaper.
  constexpr std::size_t kFirst = 64, kWider = 16;
  std::size_t now = std::min(kFirst, width);
  if (search.found().bound == HUGE_VAL) return search.found();
  search.look(now);
  while (now < width && !search.is_exact()) search.look(now = std::min(width, now * kWider));
  return search.found();
}

}  // namespace hone
