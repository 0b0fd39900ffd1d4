#include "hone/jobs/times_in_turn.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <vector>

#include "hone/base/interrupt.h"

namespace hone {
namespace {

constexpr double kShortMs = 1;
constexpr int kMostRuns = 10000;

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// A piece of work, and how many runs make a round of it.
struct Work {
  const std::function<void()>& run;
  const std::function<double()>& now_seconds;
  int runs = 1;
  std::vector<double> ms = {};  ///< of one run, in each round

  double time_once() const {
    const double start = now_seconds();
    for (int i = 0; i < runs; ++i) run();
    return 1e3 * (now_seconds() - start) / runs;
  }
  void warm_up() {
    run();
    runs = static_cast<int>(std::clamp(std::ceil(kShortMs / std::max(time_once(), 1e-6)), 1.0,
                                       static_cast<double>(kMostRuns)));
  }
  RoundTimes times() const {
    std::vector<double> sorted = ms;
    std::ranges::sort(sorted);
    return {sorted.front(), median_of_sorted(sorted)};
  }
};

}  // namespace

double median_of_sorted(std::span<const double> sorted) {
  const std::size_t half = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

TimesInTurn time_in_turn(const std::function<void()>& before, const std::function<void()>& after,
                         const std::function<void()>& on_round,
                         const std::function<double()>& now_seconds) {
  const std::function<double()> clock = now_seconds ? now_seconds : steady_seconds;
  Work first{before, clock}, second{after, clock};
  first.warm_up();
  second.warm_up();
  std::vector<double> ratios;
  for (int round = 0; round < kTimedRounds; ++round) {
    Work& begins = round % 2 == 0 ? first : second;
    Work& follows = round % 2 == 0 ? second : first;
    begins.ms.push_back(begins.time_once());
    follows.ms.push_back(follows.time_once());
    ratios.push_back(first.ms.back() / std::max(second.ms.back(), 1e-9));
    if (on_round) on_round();
    stop_if_interrupted();
  }
  std::ranges::sort(ratios);
  return {.before = first.times(),
          .after = second.times(),
          .speedup = median_of_sorted(ratios),
          .speedup_interval = {ratios[2], ratios[kTimedRounds - 3]}};
}

std::string speedup_text(const TimesInTurn& times) {
  const std::string interval = fmt::format("(96 %: {:.2f} to {:.2f})", times.speedup_interval.low,
                                           times.speedup_interval.high);
  if (times.shown_faster()) return fmt::format("{:.2f} times as fast {}", times.speedup, interval);
  if (times.shown_slower())
    return fmt::format("slower: {:.2f} times as fast {}", times.speedup, interval);
  return fmt::format("no difference is shown: {:.2f} times as fast {}", times.speedup, interval);
}

}  // namespace hone
