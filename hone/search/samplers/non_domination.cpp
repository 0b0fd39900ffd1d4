#include "hone/search/samplers/non_domination.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace hone {
namespace {

using Losses = std::vector<double>;

constexpr double kLeastVolume = 1e-12;

bool weakly_dominates(const Losses& a, const Losses& b) {
  for (std::size_t i = 0; i < a.size(); ++i)
    if (a[i] > b[i]) return false;
  return true;
}

// Returns the indices of distinct points, sorted by their losses; the first among equals.
std::vector<std::size_t> sorted_and_different(const LossVectors& points) {
  std::vector<std::size_t> order(points.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return points[a] < points[b]; });
  order.erase(std::unique(order.begin(), order.end(),
                          [&](std::size_t a, std::size_t b) { return points[a] == points[b]; }),
              order.end());
  return order;
}

// Returns the distinct undominated points, sorted.
LossVectors front_of(const LossVectors& points) {
  LossVectors front;
  for (const std::size_t i : sorted_and_different(points)) {
    const bool dominated = std::any_of(front.begin(), front.end(), [&](const Losses& other) {
      return weakly_dominates(other, points[i]);
    });
    if (!dominated) front.push_back(points[i]);
  }
  return front;
}

double box(const Losses& point, const Losses& reference) {
  double volume = 1;
  for (std::size_t i = 0; i < point.size(); ++i) volume *= reference[i] - point[i];
  return volume;
}

double volume_of_front(const LossVectors& front, const Losses& reference) {
  if (reference.size() == 2) {
    double volume = 0, above = reference[1];
    for (const Losses& point : front) {
      volume += (reference[0] - point[0]) * (above - point[1]);
      above = point[1];
    }
    return volume;
  }
  // Each point contributes its box minus the part that later points dominate (While, Bradstreet, Barone 2012).
  double volume = 0;
  for (std::size_t i = 0; i < front.size(); ++i) {
    LossVectors limited;
    for (std::size_t j = i + 1; j < front.size(); ++j) {
      Losses worse = front[j];
      for (std::size_t k = 0; k < worse.size(); ++k) worse[k] = std::max(worse[k], front[i][k]);
      limited.push_back(std::move(worse));
    }
    volume += box(front[i], reference);
    if (!limited.empty()) volume -= volume_of_front(front_of(limited), reference);
  }
  return volume;
}

// Returns the index of the largest number, the first among equals.
std::size_t largest(const std::vector<double>& numbers) {
  return static_cast<std::size_t>(std::max_element(numbers.begin(), numbers.end()) -
                                  numbers.begin());
}

// Returns which of `left` adds most to `taken`. Contributions only shrink as more points are taken, so earlier ones,
// in `bounds`, are upper bounds, and few need to be recomputed.
std::size_t next_of_subset(const LossVectors& points, const std::vector<std::size_t>& left,
                           LossVectors taken, const Losses& reference,
                           std::vector<double>& bounds) {
  const double before = hypervolume(taken, reference);
  if (!std::isfinite(before)) return 0;
  std::vector<std::size_t> order(left.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return bounds[a] > bounds[b]; });
  double most = -1;
  for (const std::size_t i : order) {
    if (bounds[i] < most) break;
    if (std::isfinite(bounds[i])) {
      taken.push_back(points[left[i]]);
      bounds[i] = hypervolume(taken, reference) - before;
      taken.pop_back();
    }
    most = std::max(most, bounds[i]);
  }
  return largest(bounds);
}

bool is_finite(const Losses& point) {
  return std::all_of(point.begin(), point.end(), [](double x) { return std::isfinite(x); });
}

}  // namespace

std::vector<std::int64_t> non_domination_ranks(const LossVectors& points, std::size_t enough) {
  const std::vector<std::size_t> different = sorted_and_different(points);
  std::vector<std::int64_t> ranks(points.size(), 0);
  std::vector<std::size_t> left = different;
  std::int64_t rank = 0;
  for (; !left.empty() && different.size() - left.size() < enough; ++rank) {
    std::vector<std::size_t> front, behind;
    for (const std::size_t i : left) {
      const bool dominated = std::any_of(front.begin(), front.end(), [&](std::size_t other) {
        return weakly_dominates(points[other], points[i]);
      });
      (dominated ? behind : front).push_back(i);
      if (!dominated) ranks[i] = rank;
    }
    left = std::move(behind);
  }
  for (const std::size_t i : left) ranks[i] = rank;
  for (std::size_t i = 0; i < points.size(); ++i)  // duplicates of earlier points
    ranks[i] = ranks[*std::lower_bound(
        different.begin(), different.end(), points[i],
        [&](std::size_t index, const Losses& point) { return points[index] < point; })];
  return ranks;
}

std::vector<double> reference_point(const LossVectors& points) {
  Losses reference = points.at(0);
  for (const Losses& point : points)
    for (std::size_t i = 0; i < point.size(); ++i) reference[i] = std::max(reference[i], point[i]);
  for (double& worst : reference) {
    worst = std::max(1.1 * worst, 0.9 * worst);
    if (worst == 0) worst = kLeastVolume;
  }
  return reference;
}

double hypervolume(LossVectors points, const std::vector<double>& reference) {
  const double infinity = std::numeric_limits<double>::infinity();
  if (!is_finite(reference)) return infinity;
  const double volume = volume_of_front(front_of(points), reference);
  return std::isfinite(volume) ? volume : infinity;
}

std::vector<std::size_t> largest_hypervolume_subset(const LossVectors& points, std::size_t count,
                                                    const std::vector<double>& reference) {
  std::vector<std::size_t> chosen;
  if (count >= points.size()) {
    chosen.resize(points.size());
    std::iota(chosen.begin(), chosen.end(), 0u);
    return chosen;
  }
  std::vector<std::size_t> left = sorted_and_different(points);
  if (left.size() < count) {
    chosen = left;
    for (std::size_t i = 0; chosen.size() < count; ++i)
      if (std::find(left.begin(), left.end(), i) == left.end()) chosen.push_back(i);
    return chosen;
  }
  if (!is_finite(reference) || left.size() == count) {
    left.resize(count);
    return left;
  }
  LossVectors taken;
  std::vector<double> bounds;
  for (const std::size_t i : left) bounds.push_back(box(points[i], reference));
  while (chosen.size() < count) {
    const std::size_t best =
        taken.empty() ? largest(bounds) : next_of_subset(points, left, taken, reference, bounds);
    chosen.push_back(left[best]);
    taken.push_back(points[left[best]]);
    left.erase(left.begin() + static_cast<std::ptrdiff_t>(best));
    bounds.erase(bounds.begin() + static_cast<std::ptrdiff_t>(best));
  }
  return chosen;
}

std::vector<bool> best_by_rank(const LossVectors& points, std::size_t count) {
  const std::vector<std::int64_t> ranks = non_domination_ranks(points, count);
  std::vector<bool> is_best(points.size());
  std::size_t taken = 0;
  for (std::int64_t rank = 0; taken < count; ++rank) {
    std::vector<std::size_t> members;
    LossVectors of_members;
    for (std::size_t i = 0; i < points.size(); ++i)
      if (ranks[i] == rank) {
        members.push_back(i);
        of_members.push_back(points[i]);
      }
    const std::size_t room = std::min(count - taken, members.size());
    for (const std::size_t i :
         largest_hypervolume_subset(of_members, room, reference_point(of_members)))
      is_best[members[i]] = true;
    taken += room;
  }
  return is_best;
}

std::vector<double> hypervolume_weights(const LossVectors& points) {
  std::vector<double> weights(points.size(), 1.0);
  if (points.size() < 2) return weights;
  const std::vector<double> reference = reference_point(points);
  const double whole = hypervolume(points, reference);
  if (!std::isfinite(whole)) return weights;
  for (std::size_t i = 0; i < points.size(); ++i) {
    LossVectors others = points;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
    weights[i] = whole - hypervolume(others, reference);
  }
  const double most = std::max(*std::max_element(weights.begin(), weights.end()), kLeastVolume);
  for (double& weight : weights) weight = std::max(weight / most, kLeastVolume);
  return weights;
}

}  // namespace hone
