#include "hone/search/samplers/tpe_split.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "hone/search/samplers/non_domination.h"

namespace hone {
namespace {

using Rows = std::vector<std::uint32_t>;
using Row = TrialHistory::Row;

// Moves the `count` lowest rows by `less` to the front. Rows start in order of number, which breaks ties.
template <typename Less>
void bring_forward(Rows& rows, std::size_t count, const TrialHistory& history, Less less) {
  const auto middle = rows.begin() + static_cast<std::ptrdiff_t>(std::min(count, rows.size()));
  std::nth_element(rows.begin(), middle, rows.end(), [&](std::uint32_t a, std::uint32_t b) {
    const Row &x = history.row(a), &y = history.row(b);
    if (less(x, y)) return true;
    return !less(y, x) && x.number < y.number;
  });
}

bool less_by_report(const Row& a, const Row& b) {
  const auto key = [](const Row& row) {
    return std::tuple(!row.reported, -row.last_step, row.last_report);
  };
  return key(a) < key(b);
}

// Moves the best by rank and hypervolume to the front.
void bring_front_forward(Rows& rows, std::size_t count, const TrialHistory& history) {
  if (count == 0 || count >= rows.size()) return;
  LossVectors losses;
  for (const std::uint32_t row : rows) losses.push_back(history.row(row).losses);
  const std::vector<bool> is_good = best_by_rank(losses, count);
  Rows good, others;
  for (std::size_t i = 0; i < rows.size(); ++i) (is_good[i] ? good : others).push_back(rows[i]);
  good.insert(good.end(), others.begin(), others.end());
  rows = std::move(good);
}

}  // namespace

std::size_t good_count(std::size_t finished, std::size_t objectives, const TpeRules& rules) {
  constexpr std::size_t kMost = 25;
  const std::size_t tenth = (finished + 9) / 10;
  return objectives > 1 && !rules.at_most_25 ? tenth : std::min(tenth, kMost);
}

TpeSplit split_trials(const TrialHistory& history, std::size_t good) {
  Rows complete, pruned, infeasible;
  for (const std::uint32_t index : history.finished()) {
    const Row& row = history.row(index);
    (row.violation > 0                   ? infeasible
     : row.state == TrialState::complete ? complete
                                         : pruned)
        .push_back(index);
  }
  TpeSplit split;
  const auto take = [&](const Rows& rows) {
    const std::size_t count = std::min(good - split.below.size(), rows.size());
    const auto middle = rows.begin() + static_cast<std::ptrdiff_t>(count);
    split.below.insert(split.below.end(), rows.begin(), middle);
    split.above.insert(split.above.end(), middle, rows.end());
  };
  if (!complete.empty() && history.row(complete[0]).losses.size() > 1) {
    bring_front_forward(complete, good, history);
  } else {
    bring_forward(complete, good, history,
                  [](const Row& a, const Row& b) { return a.losses[0] < b.losses[0]; });
  }
  take(complete);
  bring_forward(pruned, good - split.below.size(), history, less_by_report);
  take(pruned);
  bring_forward(infeasible, good - split.below.size(), history,
                [](const Row& a, const Row& b) { return a.violation < b.violation; });
  take(infeasible);
  split.above.insert(split.above.end(), history.running().begin(), history.running().end());
  const auto by_number = [&](std::uint32_t a, std::uint32_t b) {
    return history.row(a).number < history.row(b).number;
  };
  std::sort(split.below.begin(), split.below.end(), by_number);
  std::sort(split.above.begin(), split.above.end(), by_number);
  return split;
}

}  // namespace hone
