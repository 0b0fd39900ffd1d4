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

/// A piece of work, and how many runs make a round of it.
struct Work {
  const std::function<void()>& run;
  const std::function<double()>& now_seconds;
  int runs = 1;

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
};

RoundTimes times_of(std::vector<double> rounds) {
  std::ranges::sort(rounds);
  return {rounds.front(), median_of_sorted(rounds)};
}

}  // namespace

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double median_of_sorted(std::span<const double> sorted) {
  const std::size_t half = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

std::vector<std::vector<double>> rounds_in_turn(std::span<const std::function<void()>> works,
                                                std::int64_t rounds,
                                                const std::function<void()>& on_round,
                                                const std::function<double()>& now_seconds) {
  const std::function<double()> clock = now_seconds ? now_seconds : steady_seconds;
  std::vector<Work> all;
  for (const std::function<void()>& run : works) all.push_back({run, clock});
  for (Work& work : all) work.warm_up();
  std::vector<std::vector<double>> ms(all.size());
  for (std::int64_t round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      const std::size_t turn = (static_cast<std::size_t>(round) + i) % all.size();
      ms[turn].push_back(all[turn].time_once());
    }
    if (on_round) on_round();
    stop_if_interrupted();
  }
  return ms;
}

TimesInTurn time_in_turn(const std::function<void()>& before, const std::function<void()>& after,
                         const std::function<void()>& on_round,
                         const std::function<double()>& now_seconds) {
  const std::function<void()> works[] = {before, after};
  const auto ms = rounds_in_turn(works, kTimedRounds, on_round, now_seconds);
  std::vector<double> ratios;
  for (std::size_t round = 0; round < ms[0].size(); ++round)
    ratios.push_back(ms[0][round] / std::max(ms[1][round], 1e-9));
  std::ranges::sort(ratios);
  return {.before = times_of(ms[0]),
          .after = times_of(ms[1]),
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
