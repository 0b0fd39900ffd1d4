#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hone/base/json.h"
#include "hone/metrics/median.h"
#include "hone/report/table.h"

/// Which of several pieces of work is faster on this machine, however loud it is: they take turns, so that all see the same of
/// it.
///
///     const TimesInTurn times = time_in_turn([&] { fp32.run(); }, [&] { native.run(); });
///     times.speedup, times.speedup_interval   // 1.84, [1.79, 1.90]
namespace hone {

/// Milliseconds of one run over several rounds.
struct RoundTimes {
  double min_ms = 0, median_ms = 0;
};

/// Of a clock that never goes backwards; the origin is any.
double steady_seconds();
/// What all processors together have spent on this process.
double cpu_seconds();

/// Milliseconds of one run.
double run_ms(const std::function<void()>& work);
/// Of each of `runs` runs one after the other, rising. Throws `Interrupted`.
std::vector<double> runs_ms(const std::function<void()>& work, std::int64_t runs);

struct TimesInTurn {
  RoundTimes before, after;
  double speedup = 1;  ///< median over the rounds of the time before by that after; above 1: faster
  Interval speedup_interval = {1, 1};  ///< at least 95%, see `median_interval`

  bool shown_faster() const { return speedup_interval.low > 1; }
  bool shown_slower() const { return speedup_interval.high < 1; }
};

/// Milliseconds of one run of each piece of work, in each of `rounds` rounds, of which every one begins with the next. Before
/// them each runs twice, uncounted; what takes less than a millisecond is run many times a round. `on_round` is told of each
/// round that is done. `now_seconds` is the clock: any origin, never backwards; by default the steady one. Throws `Interrupted`.
std::vector<std::vector<double>> rounds_in_turn(std::span<const std::function<void()>> works,
                                                std::int64_t rounds,
                                                const std::function<void()>& on_round = {},
                                                const std::function<double()>& now_seconds = {});

/// What rounds of two pieces of work tell of them: in the order of time, as many of each, `kFewestForMedianInterval` at least.
TimesInTurn compare_rounds(std::span<const double> before_ms, std::span<const double> after_ms);

/// How often one piece of work is as fast as another: the median of the ratios of rounds in turn.
struct Speedup {
  double value = 1;
  std::optional<Interval> interval = {};  ///< as `median_interval`; none of too few rounds
};
Speedup speedup_of(std::span<const double> before_ms, std::span<const double> after_ms);
/// "1.84 (1.79 to 1.90)", "1.84", "–".
Cell speedup_cell(const std::optional<Speedup>& speedup);
/// Under the keys `speedup` and `speedup_interval`, null where there is none.
void add_speedup(Json& fields, const std::optional<Speedup>& speedup);

/// Rounds for work that takes long: the third and the tenth ratio in order are the interval.
inline constexpr std::int64_t kTimedRounds = 12;

/// Both in `rounds` rounds, as `rounds_in_turn`.
TimesInTurn time_in_turn(const std::function<void()>& before, const std::function<void()>& after,
                         std::int64_t rounds = kTimedRounds,
                         const std::function<void()>& on_round = {},
                         const std::function<double()>& now_seconds = {});

/// Both under these names, `speedup` and `speedup_interval`.
Json to_json(const TimesInTurn& times, const std::string& before_name,
             const std::string& after_name);

/// "1.84 times as fast (95% CI 1.79 to 1.90)", "no difference is shown: 0.98 times as fast (…)", "slower: 0.81 times as fast (…)".
std::string speedup_text(const TimesInTurn& times);

}  // namespace hone
