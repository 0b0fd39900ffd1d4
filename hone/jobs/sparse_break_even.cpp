#include <algorithm>

#include "hone/jobs/bench_linear.h"

// Computes the sparsity from which on a sparse kernel pays off.
namespace hone {
namespace {

/// Time of the sparse product divided by that of the dense one, at a share of zeros.
struct RatioPoint {
  double sparsity = 0, ratio = 0;
};

// Returns where the line through the points falls below 1 for good; the first sparsity if all points are below. Empty
// if the last one is not.
std::optional<double> crossing(std::span<const RatioPoint> rising) {
  if (rising.empty() || !(rising.back().ratio < 1)) return std::nullopt;
  for (std::size_t i = rising.size() - 1; i > 0; --i) {
    const RatioPoint &before = rising[i - 1], &after = rising[i];
    if (before.ratio >= 1)
      return before.sparsity +
             (before.ratio - 1) / (before.ratio - after.ratio) * (after.sparsity - before.sparsity);
  }
  return rising.front().sparsity;
}

// Returns the crossing for the speedups that `end_of` selects.
template <typename EndOf>
std::optional<double> crossing_of(std::span<const LinearTimes* const> rising, EndOf&& end_of) {
  std::vector<RatioPoint> points;
  for (const LinearTimes* one : rising)
    points.push_back({*one->sparsity, 1 / end_of(*one->over_dense)});
  return crossing(points);
}

void set_break_even(std::span<const LinearTimes* const> rising, SparseBreakEven& result) {
  if (!std::ranges::all_of(rising, [](const LinearTimes* one) {
        return one->over_dense && one->over_dense->interval;
      }))
    return;
  const auto latest = crossing_of(rising, [](const Speedup& s) { return s.interval->low; });
  if (!latest) return;
  result.sparsity = crossing_of(rising, [](const Speedup& s) { return s.value; });
  const auto earliest = crossing_of(rising, [](const Speedup& s) { return s.interval->high; });
  result.interval = Interval{earliest.value(), *latest};
  result.is_at_most = *result.sparsity == *rising.front()->sparsity;
}

}  // namespace

std::vector<SparseBreakEven> sparse_break_evens(const std::vector<LinearTimes>& times) {
  std::vector<SparseBreakEven> all;
  for (const LinearTimes& first : times) {
    if (!first.is_sparse() || !first.was_run()) continue;
    const auto is_of = [&](const LinearTimes& one) {
      return one.is_sparse() && one.was_run() && one.is_like(first) && one.rows == first.rows &&
             one.block == first.block;
    };
    if (&*std::ranges::find_if(times, is_of) != &first) continue;
    std::vector<const LinearTimes*> rising;
    for (const LinearTimes& one : times)
      if (is_of(one)) rising.push_back(&one);
    std::ranges::sort(rising, {}, [](const LinearTimes* one) { return *one->sparsity; });
    SparseBreakEven& result =
        all.emplace_back(SparseBreakEven{.rows = first.rows,
                                         .implementation = first.implementation,
                                         .format = first.format,
                                         .block = *first.block});
    result.sparsities = std::ssize(rising);
    set_break_even(rising, result);
  }
  return all;
}

}  // namespace hone
